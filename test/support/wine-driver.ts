import { once } from 'node:events'
import { connect } from 'node:net'
import { win32 } from 'node:path'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { hostContract } from '../../lab/windows/simulator/host-contract.ts'
import { toSocketPath } from '../../src/agent/heal/probes/grpc-connections.ts'
import { systemClock } from '../../src/agent/host/clock.ts'
import { windowsLayout } from '../../src/agent/host/layout.ts'
import type { WindowsOperations } from '../../src/agent/host/windows-operations/table.ts'
import { hostLocalAddresses } from '../../src/agent/host/windows/host-local.ts'
import {
  createServiceControlManager,
  toWindowsServiceSpec,
} from '../../src/agent/host/windows/service-control-manager.ts'
import { thisWindows, windowsCommand } from '../../src/agent/host/windows/this-windows.ts'
import { createWindowsImages } from '../../src/agent/platform/windows-host.ts'
import { componentPlan } from '../../src/contract/component-plan.ts'
import { scm } from '../../src/contract/service.ts'
import { runProgram } from '../../src/kit/command.ts'
import { formatError } from '../../src/kit/errors.ts'

/** A request of the test, as JSON on standard input. */
const request = z.union([
  z.strictObject({ action: z.literal('contract') }),
  z.strictObject({ action: z.literal('put'), services: z.array(scm) }),
  z.strictObject({ action: z.literal('list'), names: z.array(z.string()) }),
  /** Reserves an address for kube-proxy twice, and releases it. */
  z.strictObject({
    action: z.literal('addresses'),
    plugins: z.string(),
    network: z.string(),
    subnet: z.string(),
  }),
  /** Connects to a container runtime, and lists which of these images it has. */
  z.strictObject({
    action: z.literal('runtime'),
    component: componentPlan,
    ctr: z.string(),
    images: z.array(z.string()),
  }),
  z.strictObject({ action: z.enum(['start', 'stop', 'restart', 'show', 'remove']), name: z.string() }),
])

const base = String.raw`C:\hyperkube`

async function handle(parsed: z.infer<typeof request>, operations: WindowsOperations): Promise<unknown> {
  const { services } = operations
  if (parsed.action === 'addresses') return testAddresses(parsed)
  if (parsed.action === 'contract') return runContract(operations)
  if (parsed.action === 'runtime') return probeRuntime(parsed)
  if (parsed.action === 'list') return services.list({ names: parsed.names })
  if (parsed.action === 'put') {
    for (const service of parsed.services) await services.put(toWindowsServiceSpec(service))
    return null
  }
  const { action, name } = parsed
  if (action === 'remove') return (await services.remove({ name })) ?? null
  const layout = windowsLayout(base)
  const supervisor = createServiceControlManager({
    operations,
    layout,
    files: { read: async () => undefined },
    clock: systemClock,
  })
  if (action === 'show') return supervisor.show(name)
  return (await supervisor[action](name)) ?? null
}

/** Runs all checks of the host contract. Returns the error of each check, or an empty text if it passed. */
async function runContract(operations: WindowsOperations): Promise<Record<string, string>> {
  const results: Record<string, string> = {}
  for (const { name, check } of hostContract) {
    results[name] = await check(operations, String.raw`C:\hyperkube-contract`).then(() => '', formatError)
  }
  return results
}

/**
 * Reserves an address twice, and releases it. Returns the reserved address before, during and after the
 * reservation.
 */
async function testAddresses({ plugins, network, subnet }: Record<'plugins' | 'network' | 'subnet', string>) {
  const program = win32.join(plugins, 'host-local.exe')
  const books = String.raw`C:\books`
  const addresses = hostLocalAddresses({ program, plugins, dataDirectory: books, run: runProgram })
  const known = async (): Promise<string | null> => (await addresses.findReserved(network)) ?? null
  const before = await known()
  const reserve = async (): Promise<string> => addresses.reserve(network, subnet)
  const taken = [await reserve(), await reserve(), await known()]
  await addresses.release(network)
  return { before, taken, after: await known() }
}

/** Returns the pipes of the runtime that can be opened, and which of `images` the runtime has. */
async function probeRuntime({
  component,
  ctr,
  images,
}: Extract<z.infer<typeof request>, { action: 'runtime' }>) {
  const opened: string[] = []
  for (const { check, timeoutMs } of component.probes) {
    if (check.kind !== 'cri') continue
    const socket = connect(toSocketPath(check.endpoint))
    await once(socket, 'connect', { signal: AbortSignal.timeout(timeoutMs) })
    // The driver sends nothing through the pipe, because in Wine a write blocks while Node's read is pending.
    socket.destroy()
    opened.push(check.endpoint)
  }
  const command = windowsCommand(String.raw`C:\windows`)
  const found = await createWindowsImages(windowsLayout(base), command).find(ctr, images)
  return { opened, images: found === undefined ? null : [...found.keys()] }
}

/** Serves one request in Wine with the agent's Windows code, without an agent, and prints JSON. */
async function main(): Promise<void> {
  const parsed = request.parse(JSON.parse(await text(process.stdin)))
  await using windows = await thisWindows()
  process.stdout.write(JSON.stringify(await handle(parsed, windows.host)))
}

main().catch((error: unknown) => {
  process.stderr.write(formatError(error))
  process.exitCode = 1
})
