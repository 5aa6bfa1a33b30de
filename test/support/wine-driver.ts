import { z } from 'zod'
import { once } from 'node:events'
import { connect } from 'node:net'
import { win32 } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathOf } from '../../src/agent/heal/probes/grpc-connections.ts'
import { systemClock } from '../../src/agent/host/clock.ts'
import { windowsLayout } from '../../src/agent/host/layout.ts'
import { thisWindows } from '../../src/agent/windows/host/this-windows.ts'
import { windowsCommand } from '../../src/agent/windows/host/windows-command.ts'
import { windowsImages } from '../../src/agent/windows/host/windows-images.ts'
import { hostContract } from '../../lab/windows/simulator/host-contract.ts'
import type { WindowsOperations } from '../../src/agent/windows/operations/windows-operations.ts'
import { hostLocalAddresses } from '../../src/agent/windows/reconcile/host-local.ts'
import { scmServices } from '../../src/agent/windows/scm/scm-services.ts'
import { serviceWish } from '../../src/agent/windows/scm/service-spec.ts'
import { componentPlan } from '../../src/contract/component-plan.ts'
import { scm } from '../../src/contract/service.ts'
import { run } from '../../src/kit/command.ts'
import { describe } from '../../src/kit/errors.ts'

/**
 * Runs in Wine: one request as JSON on standard input, what came of it as JSON. It is the agent's hands without its ears,
 * for the manager of services that is there.
 */
const request = z.discriminatedUnion('ask', [
  z.strictObject({ ask: z.literal('contract') }),
  z.strictObject({ ask: z.literal('put'), services: z.array(scm) }),
  z.strictObject({ ask: z.literal('list'), names: z.array(z.string()) }),
  /** Takes an address for kube-proxy, twice, and gives it back. */
  z.strictObject({
    ask: z.literal('addresses'),
    plugins: z.string(),
    network: z.string(),
    subnet: z.string(),
  }),
  /** Whether a container runtime can be reached, and which of these images it has. */
  z.strictObject({
    ask: z.literal('runtime'),
    component: componentPlan,
    ctr: z.string(),
    images: z.array(z.string()),
  }),
  z.strictObject({ ask: z.enum(['start', 'stop', 'restart', 'show', 'remove']), name: z.string() }),
])

const base = String.raw`C:\hyperkube`

async function answerTo(asked: z.infer<typeof request>, operations: WindowsOperations): Promise<unknown> {
  const { services } = operations
  if (asked.ask === 'addresses') return addressesOf(asked)
  if (asked.ask === 'contract') return contractOf(operations)
  if (asked.ask === 'runtime') return runtimeOf(asked)
  if (asked.ask === 'list') return services.list({ names: asked.names })
  if (asked.ask === 'put') {
    for (const service of asked.services) await services.put(serviceWish(service))
    return null
  }
  const { ask, name } = asked
  if (ask === 'remove') return (await services.remove({ name })) ?? null
  const layout = windowsLayout(base)
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

/** What is in the book of upstream's host-local before, meanwhile and after. */
async function addressesOf({ plugins, network, subnet }: Record<'plugins' | 'network' | 'subnet', string>) {
  const program = win32.join(plugins, 'host-local.exe')
  const books = String.raw`C:\books`
  const addresses = hostLocalAddresses({ program, plugins, books, run })
  const known = async (): Promise<string | null> => (await addresses.reserved(network)) ?? null
  const before = await known()
  const take = async (): Promise<string> => addresses.reserve(network, subnet)
  const taken = [await take(), await take(), await known()]
  await addresses.release(network)
  return { before, taken, after: await known() }
}

/**
 * That the pipe can be opened is all that can be seen of it here: Wine lets nobody write to a pipe while he waits for what
 * it says, and Node always does.
 */
async function runtimeOf({ component, ctr, images }: Extract<z.infer<typeof request>, { ask: 'runtime' }>) {
  const opened: string[] = []
  for (const { check, timeout } of component.probes) {
    if (check.kind !== 'cri') continue
    const socket = connect(pathOf(check.endpoint))
    await once(socket, 'connect', { signal: AbortSignal.timeout(timeout) })
    socket.destroy()
    opened.push(check.endpoint)
  }
  const command = windowsCommand(String.raw`C:\windows`)
  const found = await windowsImages(windowsLayout(base), command).find(ctr, images)
  return { opened, images: found === undefined ? null : [...found.keys()] }
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
