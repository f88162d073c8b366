/** The schemas of responses to SDKs in browsers (docs/specification/surfaces.md#what-pages-get). */
import * as v from 'valibot';

const ToggleSchema = v.pipe(
  v.object({
    name: v.string(),
    enabled: v.boolean(),
    impressionData: v.boolean(),
    variant: v.object({
      name: v.pipe(v.string(), v.description('`disabled` when there is none.')),
      enabled: v.boolean(),
      payload: v.exactOptional(v.object({ type: v.string(), value: v.string() })),
      feature_enabled: v.boolean(),
      featureEnabled: v.boolean(),
    }),
  }),
  v.title('Toggle'),
);

export const TogglesSchema = v.pipe(
  v.object({ toggles: v.pipe(v.array(ToggleSchema), v.description('Those that are on, by name.')) }),
  v.title('Toggles'),
);
