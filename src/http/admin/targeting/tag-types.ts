/** Tag types: what the words before the colon of tags stand for. */
import * as v from 'valibot';
import { refuseTaken } from '../../../domain/decide/kind-commands.ts';
import { TAG_TYPE } from '../../../domain/kinds/tag-type.ts';
import { namedRecords } from '../../../domain/state/directory-records.ts';
import { emptyResponse, jsonResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import {
  FoundTagTypeSchema,
  TagTypeCheckSchema,
  TagTypeSchema,
  TagTypesSchema,
} from '../schemas/targeting-schemas.ts';
import { recorded, settledResponse } from '../views/responses.ts';

const TYPES = '/tag-types';
const TYPE = `${TYPES}/:tagType`;

const CreateTagTypeBody = v.pipe(
  v.object({ name: TAG_TYPE.nameSchema, ...TAG_TYPE.sent }),
  v.title('CreateTagType'),
);
const UpdateTagTypeBody = v.pipe(v.object(TAG_TYPE.sent), v.title('UpdateTagType'));

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
  writeRoute({
    method: 'POST',
    path: TYPES,
    operationId: 'createTagType',
    tag: 'Tags',
    summary: 'Describe a tag type.',
    permission: 'targeting:write',
    needs: ['CREATE_TAG_TYPE'],
    body: CreateTagTypeBody,
    success: { status: 201, schema: TagTypeSchema },
    refusals: ['NameExistsError', 'InvalidOperationError'],
    command: ({ body: { name, ...fields } }) => ({ type: 'create-named', kind: 'tagTypes', name, fields }),
    respond: (_, events) => jsonResponse(201, recorded(events, 'tag-type-created').data),
  }),
  readRoute({
    method: 'POST',
    path: `${TYPES}/validate`,
    operationId: 'validateTagType',
    tag: 'Tags',
    summary: 'Check whether a tag type can have a name: it is valid and not taken.',
    permission: 'read',
    body: CreateTagTypeBody,
    success: { status: 200, schema: TagTypeCheckSchema },
    refusals: ['NameExistsError'],
    read: (context) => {
      const { name, description = '', icon = null, color = null } = context.body;
      const tagType = { name, description, icon, color };
      return (
        refuseTaken(context.world, 'tagTypes', name) ?? settledResponse(context, { valid: true, tagType })
      );
    },
  }),
  readRoute({
    method: 'GET',
    path: TYPE,
    operationId: 'getTagType',
    tag: 'Tags',
    summary: 'Read a tag type.',
    permission: 'read',
    locate: locate.tagType,
    success: { status: 200, schema: FoundTagTypeSchema },
    read: (context, tagType) => settledResponse(context, { version: 1, tagType }),
  }),
  writeRoute({
    method: 'PUT',
    path: TYPE,
    operationId: 'updateTagType',
    tag: 'Tags',
    summary: 'Change the description of a tag type; what is absent keeps its value.',
    permission: 'targeting:write',
    needs: ['UPDATE_TAG_TYPE'],
    locate: locate.tagType,
    body: UpdateTagTypeBody,
    success: { status: 200, schema: null },
    command: ({ params, body }) => ({
      type: 'update-named',
      kind: 'tagTypes',
      name: params.tagType,
      fields: body,
    }),
    respond: () => emptyResponse(200),
  }),
  writeRoute({
    method: 'DELETE',
    path: TYPE,
    operationId: 'deleteTagType',
    tag: 'Tags',
    summary: 'Delete the description of a tag type. Flags keep their tags.',
    permission: 'targeting:write',
    needs: ['DELETE_TAG_TYPE'],
    locate: locate.tagType,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params }) => ({ type: 'delete-named', kind: 'tagTypes', name: params.tagType }),
    respond: () => emptyResponse(200),
  }),
];
