import { z } from 'zod'
import { runProgram } from '../../../kit/command.ts'
import { findNodeName } from '../../heal/report/node-events.ts'
import type { RunProbe } from '../../heal/probe-result.ts'
import type { Host } from '../../host/host.ts'
import { join } from '../../host/host-path.ts'
import type { WindowsLayout } from '../../host/layout.ts'
import { createNodeClient } from '../../renewal/node-api.ts'
import type { WorkerDeps } from '../reconcile/worker-deps.ts'
import { hostLocalAddresses } from '../reconcile/host-local.ts'

const node = z.object({ spec: z.object({ podCIDR: z.string().optional() }) })

/** Timeout of an API request in milliseconds. */
const timeoutMs = 5000

/**
 * Creates the dependencies of reconciling a worker that are not host operations: readiness probes, the API
 * and the IPAM plugin.
 */
export function createWorkerDeps(
  layout: Pick<WindowsLayout, 'addresses'>,
  runProbe: RunProbe,
  host: () => Host,
): WorkerDeps {
  return {
    async isReady(component, signal) {
      const localProbes = component.probes.filter(({ scope }) => scope === 'local')
      const results = await Promise.all(localProbes.map(async (probe) => runProbe(probe, component, signal)))
      return results.every(({ state }) => state === 'healthy')
    },
    async subnet(plan, signal) {
      const name = findNodeName(plan)
      const client = await createNodeClient(host(), plan, signal).catch(() => undefined)
      if (client === undefined || name === undefined) return undefined
      try {
        const response = await client.request({
          method: 'GET',
          path: `/api/v1/nodes/${name}`,
          timeout: timeoutMs,
        })
        return node.parse(response).spec.podCIDR
      } catch {
        // The API does not respond, or the Node does not exist yet. The caller tries again later.
        signal.throwIfAborted()
        return undefined
      } finally {
        client[Symbol.dispose]()
      }
    },
    addresses: (plugins) =>
      hostLocalAddresses({
        program: join(plugins, 'host-local.exe'),
        plugins,
        dataDirectory: layout.addresses,
        run: runProgram,
      }),
  }
}
