import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  fakeServiceManager,
  fakeServiceSettings,
} from '../../../../../lab/windows/simulator/fake-service-manager.ts'
import { hostContract } from '../../../../../lab/windows/simulator/host-contract.ts'
import type { Machine } from '../../../../../lab/windows/simulator/machine.ts'
import { newMachine } from '../../../../../lab/windows/simulator/new-machine.ts'
import { simulatedHost } from '../../../../../lab/windows/simulator/simulated-host.ts'
import { advance } from '../../../../../lab/windows/simulator/time.ts'
import type { WindowsOperations } from '../../windows-operations/table.ts'
import { connectServiceManager } from './connection.ts'
import { svcctlServices } from './services.ts'

let directory: string
let server: Server | undefined
const clients = new Set<Socket>()
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svcctl-'))
})
afterAll(async () => rm(directory, { recursive: true, force: true }))
afterEach(async () => {
  for (const client of clients) client.destroy()
  clients.clear()
  server?.close()
  server = undefined
})

async function listen(nextServer: Server): Promise<string> {
  server = nextServer.on('connection', (client) => clients.add(client))
  const pipe = join(directory, randomUUID())
  nextServer.listen(pipe)
  await once(nextServer, 'listening')
  return pipe
}

/**
 * Opens a simulated host. Its services are controlled through the protocol of the Service Control Manager.
 */
async function openSvcctlHost(): Promise<{ host: WindowsOperations; machine: Machine }> {
  const machine = newMachine(new Map())
  const pipe = await listen(fakeServiceManager(machine))
  const services = svcctlServices({
    connect: async (signal) => connectServiceManager(pipe, signal),
    settings: fakeServiceSettings(machine),
    clock: { now: () => new Date(machine.time), pause: async (time) => advance(machine, time) },
  })
  return { host: { ...simulatedHost(machine).host, services }, machine }
}

test.each(hostContract)('over the service manager protocol: $name', async ({ check }) => {
  const { host } = await openSvcctlHost()
  await expect(check(host, String.raw`C:\hyperkube-contract`)).resolves.toBeUndefined()
})

const program = String.raw`C:\Windows\System32\drivers\etc\hosts`
function buildSpec(name: string, dependsOn: string[] = [], line = `"${program}"`) {
  return {
    name,
    description: 'x',
    commandLine: line,
    dependsOn,
    environment: [],
    restartAfter: [1, 2, 3] as [number, number, number],
  }
}

test('restart delays are passed on', async () => {
  const { host, machine } = await openSvcctlHost()
  await host.services.put(buildSpec('one'))
  expect(machine.services.get('one')?.restartAfter).toEqual([1, 2, 3])
})

test('a command line longer than a fragment arrives whole', async () => {
  const { host } = await openSvcctlHost()
  const line = `"${program}" ${'long '.repeat(1500)}`
  await host.services.put(buildSpec('one', [], line))
  expect((await host.services.list({ names: ['one'] }))[0]?.commandLine).toBe(line)
})

test('dependents stop with a service, the last of the chain first', async () => {
  const { host, machine } = await openSvcctlHost()
  await host.files.write({ path: program, text: 'a program' })
  for (const [name, needs] of [
    ['one', []],
    ['two', ['one']],
    ['three', ['two']],
  ] as const)
    await host.services.put(buildSpec(name, [...needs]))
  await host.services.start({ name: 'three' })
  await host.services.start({ name: 'three' })
  advance(machine, 2000)
  const states = async () =>
    (await host.services.list({ names: ['one', 'two', 'three'] })).map(({ state }) => state)
  expect(await states()).toEqual(['Running', 'Running', 'Running'])
  await host.services.stop({ name: 'one' })
  expect(await states()).toEqual(['Stop Pending', 'Stopped', 'Stopped'])
  advance(machine, 3000)
  await host.services.stop({ name: 'one' })
  expect(await states()).toEqual(['Stopped', 'Stopped', 'Stopped'])
})

test('a refused call is reported with its operation and error code', async () => {
  const { host } = await openSvcctlHost()
  await host.services.put(buildSpec('one', [], '"C:\\missing.exe"'))
  await expect(host.services.start({ name: 'one' })).rejects.toThrow(
    'services.start failed: start: Windows error 2',
  )
  await expect(host.services.stop({ name: 'missing' })).rejects.toThrow(
    'services.stop failed: openService: Windows error 1060',
  )
})

test.each([
  [
    'nothing',
    (): Server => createServer((socket) => void socket.end()),
    'the connection closed within a response',
  ],
  [
    'invalid-output',
    (): Server => createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    'the connection failed',
  ],
])('a manager that returns %s is rejected', async (_, make, message) => {
  const pipe = await listen(make())
  const connected = connectServiceManager(pipe, new AbortController().signal)
  await expect(connected).rejects.toMatchObject({
    code: 'SCM_UNREACHABLE',
    cause: {
      code: 'SCM_INVALID_OUTPUT',
      message: `invalid response of the Service Control Manager: ${message}`,
    },
  })
})

test('waiting for a silent manager can be aborted', async () => {
  const pipe = await listen(createServer())
  const controller = new AbortController()
  const connected = connectServiceManager(pipe, controller.signal)
  controller.abort(new Error('gone'))
  await expect(connected).rejects.toThrow('gone')
})

test('a missing pipe is reported as unreachable', async () => {
  const connected = connectServiceManager(join(directory, 'none'), new AbortController().signal)
  await expect(connected).rejects.toMatchObject({ code: 'SCM_UNREACHABLE' })
})
