/** What people change about applications. It is written behind, as reports are. */
import * as v from 'valibot';
import { isRefusal, notFound } from '../../../domain/state/refusal.ts';
import { refuseInMaintenance } from '../../../domain/state/settings.ts';
import { TEXT_LENGTH_MAX } from '../../../domain/usage/applications.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { type Route, readRoute } from '../../serving/route.ts';
import { APPLICATION, named } from './applications.ts';
import { NO_STATE_SHOWN } from './flag-usage.ts';

/** Characters of each text. */
const DETAIL_LENGTH_MAX = 500;
const DETAIL_PHRASE = `a text of at most ${DETAIL_LENGTH_MAX} characters`;
const Detail = v.pipe(v.string(DETAIL_PHRASE), v.maxLength(DETAIL_LENGTH_MAX, DETAIL_PHRASE));

/** People click on it, so it must not be a script. */
const ADDRESS_PHRASE = 'an address that begins with https:// or http://, or an empty text';
const Address = v.pipe(Detail, v.regex(/^(?:https?:\/\/.*)?$/, ADDRESS_PHRASE));

const DescriptionBody = v.pipe(
  v.object({
    description: v.exactOptional(Detail),
    url: v.exactOptional(Address),
    color: v.exactOptional(Detail),
    icon: v.exactOptional(Detail),
  }),
  v.title('ApplicationDescription'),
);

export const applicationChangeRoutes: readonly Route[] = [
  readRoute({
    method: 'POST',
    path: APPLICATION,
    operationId: 'createApplication',
    tag: 'Usage',
    summary:
      'Describe an application, whether or not it has reported. What the body leaves out stays as it is.',
    permission: 'targeting:write',
    needs: ['UPDATE_APPLICATION'],
    changesUsage: true,
    body: DescriptionBody,
    success: { status: 202, schema: null },
    refusals: ['NotFoundError'],
    read: ({ world, usage, params, body }) => {
      const maintenance = refuseInMaintenance(world.directory.settings);
      if (maintenance !== null) return maintenance;
      const { appName } = params;
      if (appName.length > TEXT_LENGTH_MAX) {
        return notFound(
          `The name of an application has at most ${TEXT_LENGTH_MAX} characters, not ${appName.length}.`,
        );
      }
      usage.describeApplication(appName, body);
      return { revision: NO_STATE_SHOWN, response: emptyResponse(202) };
    },
  }),
  readRoute({
    method: 'DELETE',
    path: APPLICATION,
    operationId: 'deleteApplication',
    tag: 'Usage',
    summary: 'Forget an application until it reports again. What it counted stays.',
    permission: 'targeting:write',
    needs: ['UPDATE_APPLICATION'],
    changesUsage: true,
    success: { status: 200, schema: null },
    refusals: ['NotFoundError'],
    read: (context) => {
      const maintenance = refuseInMaintenance(context.world.directory.settings);
      if (maintenance !== null) return maintenance;
      const application = named(context);
      if (isRefusal(application)) return application;
      context.usage.forgetApplication(application.appName);
      return { revision: NO_STATE_SHOWN, response: emptyResponse(200) };
    },
  }),
];
