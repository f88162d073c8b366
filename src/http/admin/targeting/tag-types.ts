/** Tag types: what the words before the colon of tags stand for. */
import * as v from 'valibot';
import { refuseTakenTagType } from '../../../domain/decide/tag-commands.ts';
import { TAG_TYPE_ENTRIES, TagTypeNameSchema } from '../../../domain/flags/tag-type.ts';
import { tagTypes } from '../../../domain/state/targeting.ts';
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
  v.object({ name: TagTypeNameSchema, ...TAG_TYPE_ENTRIES }),
  v.title('CreateTagType'),
);
const UpdateTagTypeBody = v.pipe(v.object(TAG_TYPE_ENTRIES), v.title('UpdateTagType'));

export const tagTypeRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: TYPES,
    operationId: 'getTagTypes',
    tag: 'Tags',
    summary: 'List the tag types.',
    permission: 'read',
    success: { status: 200, schema: TagTypesSchema },
    read: (context) => settledResponse(context, { version: 1, tagTypes: tagTypes(context.world) }),
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
    command: ({ body: { name, ...fields } }) => ({ type: 'create-tag-type', name, fields }),
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
      return refuseTakenTagType(context.world, name) ?? settledResponse(context, { valid: true, tagType });
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
    command: ({ params, body }) => ({ type: 'update-tag-type', name: params.tagType, fields: body }),
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
    command: ({ params }) => ({ type: 'delete-tag-type', name: params.tagType }),
    respond: () => emptyResponse(200),
  }),
];
