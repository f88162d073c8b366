/** Integrations as a part of a server: their routes, and the courier that sends to them. */
import type { ConfiguredAddon, Setup } from '../../host/addon.ts';
import { API_PREFIX } from '../../http/serving/surface.ts';
import type { Courier } from './courier.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import { INTEGRATION, integrationsOf } from './kind.ts';
import { integrationRoutes } from './routes.ts';
import { openCourier, privateHostsIn, publicUrlIn } from './sending.ts';

export function configureIntegrations(setup: Setup): ConfiguredAddon {
  const privateHosts = privateHostsIn(setup.env);
  const publicUrl = publicUrlIn(setup);
  let courier: Courier | null = null;
  return {
    kinds: [INTEGRATION],
    routes: { [API_PREFIX]: [...integrationRoutes, ...deliveryRoutes(() => courier)] },
    open: async (host) => {
      const integrations = integrationsOf(host.engine);
      const opened = await openCourier(host, { privateHosts, publicUrl, log: setup.log, integrations });
      courier = opened.courier;
      return opened.parts;
    },
  };
}
