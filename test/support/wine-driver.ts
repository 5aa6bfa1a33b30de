import { z } from 'zod'
import { text } from 'node:stream/consumers'
import { systemClock } from '../../src/agent/host/clock.ts'
import { windowsLayout } from '../../src/agent/host/layout.ts'
import { thisWindows } from '../../src/agent/windows/host/this-windows.ts'
import { hostContract } from '../../src/agent/windows/operations/host-contract.ts'
import type { WindowsOperations } from '../../src/agent/windows/operations/host.ts'
import { scmServices } from '../../src/agent/windows/scm/scm-services.ts'
import { serviceWish } from '../../src/agent/windows/scm/service-wish.ts'
import { scm } from '../../src/contract/service.ts'
import { describe } from '../../src/kit/errors.ts'

/**
 * Runs in Wine: one request as JSON on standard input, what came of it as JSON. It is the agent's hands without its ears,
 * for the manager of services that is there.
 */
const request = z.discriminatedUnion('ask', [
  z.strictObject({ ask: z.literal('contract') }),
  z.strictObject({ ask: z.literal('put'), services: z.array(scm) }),
  z.strictObject({ ask: z.literal('list'), names: z.array(z.string()) }),
  z.strictObject({ ask: z.enum(['start', 'stop', 'restart', 'show', 'remove']), name: z.string() }),
])

async function answerTo(asked: z.infer<typeof request>, operations: WindowsOperations): Promise<unknown> {
  const { services } = operations
  if (asked.ask === 'contract') return contractOf(operations)
  if (asked.ask === 'list') return services.list({ names: asked.names })
  if (asked.ask === 'put') {
    for (const service of asked.services) await services.put(serviceWish(service))
    return null
  }
  const { ask, name } = asked
  if (ask === 'remove') return (await services.remove({ name })) ?? null
  const layout = windowsLayout(String.raw`C:\hyperkube`)
  const supervisor = scmServices({
    operations,
    layout,
    files: { read: async () => undefined },
    clock: systemClock,
  })
  if (ask === 'show') return supervisor.show(name)
  return (await supervisor[ask](name)) ?? null
}

/** Each check of what holds of any host, with what was wrong. */
async function contractOf(operations: WindowsOperations): Promise<Record<string, string>> {
  const results: Record<string, string> = {}
  for (const { name, check } of hostContract) {
    results[name] = await check(operations, String.raw`C:\hyperkube-contract`).then(() => '', describe)
  }
  return results
}

async function main(): Promise<void> {
  const asked = request.parse(JSON.parse(await text(process.stdin)))
  await using windows = await thisWindows()
  process.stdout.write(JSON.stringify(await answerTo(asked, windows.host)))
}

main().catch((error: unknown) => {
  process.stderr.write(describe(error))
  process.exitCode = 1
})
