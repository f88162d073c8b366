/** An application as it reported itself: where it runs, with which SDKs, and what it asks for in vain. */
import { path } from '../client.js';
import { counted } from '../format.js';
import { openPanel } from '../forms/panel.jsx';
import { useRead, whenLoaded } from '../resource.jsx';
import { Name, said } from '../said.jsx';
import { Button } from './button.jsx';
import { Listing } from './listing.jsx';
import { Empty } from './states.jsx';
import { TimeAgo } from './time-ago.jsx';

/** @import { ApplicationInstance, ApplicationOverview } from '../types.d.ts' */

/** The name, which leads to it. @param {{ name: string }} props */
export const ApplicationLink = ({ name }) => (
  <Button looks="link" act={() => openPanel(`Application ${said(name)}`, <Application name={name} />)}>
    <Name text={name} />
  </Button>
);

/** @param {{ name: string }} props */
function Application({ name }) {
  const loaded = useRead(path`/metrics/applications/${name}/overview`);
  return whenLoaded(loaded, (/** @type {ApplicationOverview} */ { environments, issues }) =>
    environments.length === 0 ? (
      <Empty title="It has reported nothing yet">It shows where it runs once its SDK has connected.</Empty>
    ) : (
      <>
        <Missing title="Unknown strategy types" names={issues.missingStrategies} />
        {environments.map((one) => (
          <section key={one.name} class="part" aria-label={one.name}>
            <h3>{one.name}</h3>
            <p class="row facts">
              <span>{counted(one.instanceCount, 'instance')}</span>
              <span>
                <Name text={one.sdks.join(', ') || 'unknown SDK'} />
              </span>
              <TimeAgo iso={one.lastSeen} prefix="last seen " />
            </p>
            <Missing title="Flags that do not exist" names={one.issues.missingFeatures} />
            <Missing title="Outdated SDKs" names={one.issues.outdatedSdks} />
            <Instances name={name} environment={one.name} />
          </section>
        ))}
      </>
    ),
  );
}

/** @param {{ title: string, names: readonly string[] }} props */
export const Missing = ({ title, names }) =>
  names.length === 0 ? null : (
    <p>
      <span class="badge badge-warn">{title}</span> <Name text={names.join(', ')} max={1000} />
    </p>
  );

/** @param {{ name: string, environment: string }} props */
function Instances({ name, environment }) {
  const loaded = useRead(path`/metrics/instances/${name}/environment/${environment}`);
  return whenLoaded(loaded, (/** @type {{ instances: readonly ApplicationInstance[] }} */ { instances }) => (
    <Listing
      label={`Instances in ${environment}`}
      columns={['Instance', 'Address', 'SDK', 'Last seen']}
      rows={instances.map(({ instanceId, clientIp, sdkVersion, lastSeen }) => ({
        key: instanceId,
        cells: [instanceId, clientIp, sdkVersion ?? 'unknown', <TimeAgo iso={lastSeen} />],
      }))}
      none="No recent instances"
    />
  ));
}
