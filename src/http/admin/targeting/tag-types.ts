/** Tag types: what the words before the colon of tags stand for. */
import * as v from 'valibot';
import { refuseTaken } from '../../../domain/decide/kind-commands.ts';
import { TAG_TYPE } from '../../../domain/kinds/tag-type.ts';
import { namedRecords } from '../../../domain/state/directory-records.ts';
import { type Route, readRoute } from '../../serving/route.ts';
import {
  FoundTagTypeSchema,
  TagTypeCheckSchema,
  TagTypeSchema,
  TagTypesSchema,
} from '../schemas/targeting-schemas.ts';
import { settledResponse } from '../views/responses.ts';
import { namedRoutes } from './named-routes.ts';

const TYPES = '/tag-types';

const { create, read, update, remove } = namedRoutes({
  kind: 'tagTypes',
  path: TYPES,
  param: 'tagType',
  tag: 'Tags',
  shown: TagTypeSchema,
  view: (_, tagType) => tagType,
  found: { schema: FoundTagTypeSchema, of: (tagType) => ({ version: 1, tagType }) },
  bodies: ['CreateTagType', 'UpdateTagType'],
  create: { operationId: 'createTagType', summary: 'Describe a tag type.', needs: ['CREATE_TAG_TYPE'] },
  read: { operationId: 'getTagType', summary: 'Read a tag type.' },
  update: {
    operationId: 'updateTagType',
    summary: 'Change the description of a tag type; what is absent keeps its value.',
    needs: ['UPDATE_TAG_TYPE'],
  },
  remove: {
    operationId: 'deleteTagType',
    summary: 'Delete the description of a tag type. Flags keep their tags.',
    needs: ['DELETE_TAG_TYPE'],
  },
});

export const tagTypeRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: TYPES,
    operationId: 'getTagTypes',
    tag: 'Tags',
    summary: 'List the tag types.',
    permission: 'read',
    success: { status: 200, schema: TagTypesSchema },
    read: (context) =>
      settledResponse(context, { version: 1, tagTypes: namedRecords(context.world, 'tagTypes') }),
  }),
  create,
  readRoute({
    method: 'POST',
    path: `${TYPES}/validate`,
    operationId: 'validateTagType',
    tag: 'Tags',
    summary: 'Check whether a tag type can have a name: it is valid and not taken.',
    permission: 'read',
    body: v.pipe(v.object({ name: TAG_TYPE.nameSchema, ...TAG_TYPE.sent }), v.title('CreateTagType')),
    success: { status: 200, schema: TagTypeCheckSchema },
    refusals: ['NameExistsError'],
    read: (context) => {
      const { name, ...fields } = context.body;
      const tagType = TAG_TYPE.make(name, fields, '');
      return (
        refuseTaken(context.world, 'tagTypes', name) ?? settledResponse(context, { valid: true, tagType })
      );
    },
  }),
  read,
  update,
  remove,
];
