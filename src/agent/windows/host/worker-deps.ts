import { z } from 'zod'
import { run } from '../../../kit/command.ts'
import { nodeNameOf } from '../../heal/report/node-events.ts'
import type { AskProbe } from '../../heal/probe-result.ts'
import type { Host } from '../../host/host.ts'
import { join } from '../../host/host-path.ts'
import type { WindowsLayout } from '../../host/layout.ts'
import { clientOfNode } from '../../renewal/node-api.ts'
import type { WorkerHands } from '../reconcile/worker-deps.ts'
import { hostLocalAddresses } from '../reconcile/host-local.ts'

const node = z.object({ spec: z.object({ podCIDR: z.string().optional() }) })

/** In milliseconds: who does not answer by then is asked again in the next round. */
const timeout = 5000

/** What of a worker is asked of its own programs, of the API, and of the plugin that gives addresses. */
export function workerHands(
  layout: Pick<WindowsLayout, 'addresses'>,
  ask: AskProbe,
  host: () => Host,
): WorkerHands {
  return {
    async isReady(component, signal) {
      const local = component.probes.filter(({ scope }) => scope === 'local')
      const answers = await Promise.all(local.map(async (probe) => ask(probe, component, signal)))
      return answers.every(({ state }) => state === 'well')
    },
    async subnet(plan, signal) {
      const name = nodeNameOf(plan)
      const client = await clientOfNode(host(), plan, signal).catch(() => undefined)
      if (client === undefined || name === undefined) return undefined
      try {
        const answer = await client.request({ method: 'GET', path: `/api/v1/nodes/${name}`, timeout })
        return node.parse(answer).spec.podCIDR
      } catch {
        // No API server answers, or the node is not there yet: both are waited for.
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
        books: layout.addresses,
        run,
      }),
  }
}
