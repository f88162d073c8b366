/** The shapes of what pages of Unleash ask beside flags. */
import * as v from 'valibot';

const Id = v.pipe(v.number(), v.integer());

export const EventCreatorsSchema = v.array(
  v.pipe(v.object({ id: Id, name: v.string() }), v.title('EventCreator')),
);

export const TelemetrySettingsSchema = v.pipe(
  v.object({
    versionInfoCollectionEnabled: v.literal(false),
    featureInfoCollectionEnabled: v.literal(false),
  }),
  v.title('TelemetrySettings'),
);

export const FeedbackSchema = v.pipe(
  v.object({ userId: Id, feedbackId: v.string(), neverShow: v.boolean(), given: v.nullable(v.string()) }),
  v.title('Feedback'),
);

export const SplashSchema = v.pipe(
  v.object({ userId: Id, splashId: v.string(), seen: v.literal(true) }),
  v.title('Splash'),
);
