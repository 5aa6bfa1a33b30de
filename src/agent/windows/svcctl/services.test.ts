import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { hostContract } from '../../../../lab/windows/simulator/host-contract.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import type { Machine } from '../../../../lab/windows/simulator/machine.ts'
import { newMachine } from '../../../../lab/windows/simulator/new-machine.ts'
import { simulatedHost } from '../../../../lab/windows/simulator/simulated-host.ts'
import { advance } from '../../../../lab/windows/simulator/time.ts'
import { connectManager } from './connection.ts'
import { fakeManager, fakeSettings } from '../../../../lab/windows/simulator/fake-service-manager.ts'
import { svcctlServices } from './services.ts'

let directory: string
let server: Server | undefined
const guests = new Set<Socket>()
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svcctl-'))
})
afterAll(async () => rm(directory, { recursive: true, force: true }))
afterEach(async () => {
  for (const guest of guests) guest.destroy()
  guests.clear()
  server?.close()
  server = undefined
})

async function listening(newest: Server): Promise<string> {
  server = newest.on('connection', (guest) => guests.add(guest))
  const pipe = join(directory, randomUUID())
  newest.listen(pipe)
  await once(newest, 'listening')
  return pipe
}

/** A simulated host whose services are asked for by the words of their manager. */
async function hostBySvcctl(): Promise<{ host: WindowsOperations; machine: Machine }> {
  const machine = newMachine(new Map())
  const pipe = await listening(fakeManager(machine))
  const services = svcctlServices({
    connect: async (signal) => connectManager(pipe, signal),
    settings: fakeSettings(machine),
    clock: { now: () => new Date(machine.time), pause: async (time) => advance(machine, time) },
  })
  return { host: { ...simulatedHost(machine).host, services }, machine }
}

test.each(hostContract)('by the words of the manager of services: $name', async ({ check }) => {
  const { host } = await hostBySvcctl()
  await expect(check(host, String.raw`C:\hyperkube-contract`)).resolves.toBeUndefined()
})

const program = String.raw`C:\Windows\System32\drivers\etc\hosts`
function wish(name: string, dependsOn: string[] = [], line = `"${program}"`) {
  return {
    name,
    description: 'x',
    commandLine: line,
    dependsOn,
    environment: [],
    restartAfter: [1, 2, 3] as [number, number, number],
  }
}

test('it is told how soon to start a service again', async () => {
  const { host, machine } = await hostBySvcctl()
  await host.services.put(wish('one'))
  expect(machine.services.get('one')?.restartAfter).toEqual([1, 2, 3])
})

test('a command line longer than a fragment arrives whole', async () => {
  const { host } = await hostBySvcctl()
  const line = `"${program}" ${'long '.repeat(1500)}`
  await host.services.put(wish('one', [], line))
  expect((await host.services.list({ names: ['one'] }))[0]?.commandLine).toBe(line)
})

test('with a service those stop that depend on it, the last one in the row first', async () => {
  const { host, machine } = await hostBySvcctl()
  await host.files.write({ path: program, text: 'a program' })
  for (const [name, needs] of [
    ['one', []],
    ['two', ['one']],
    ['three', ['two']],
  ] as const)
    await host.services.put(wish(name, [...needs]))
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

test('what the manager refuses is said with the operation and the number', async () => {
  const { host } = await hostBySvcctl()
  await host.services.put(wish('one', [], '"C:\\missing.exe"'))
  await expect(host.services.start({ name: 'one' })).rejects.toThrow(
    'services.start failed: start: Windows answers 2',
  )
  await expect(host.services.stop({ name: 'nobody' })).rejects.toThrow(
    'services.stop failed: openService: Windows answers 1060',
  )
})

test.each([
  [
    'nothing',
    (): Server => createServer((socket) => void socket.end()),
    'it ended in the middle of an answer',
  ],
  [
    'rubbish',
    (): Server => createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    'the connection broke',
  ],
])('a manager that says %s is not believed', async (_, make, message) => {
  const pipe = await listening(make())
  const connected = connectManager(pipe, new AbortController().signal)
  await expect(connected).rejects.toMatchObject({
    code: 'SCM_UNREACHABLE',
    cause: { code: 'SCM_RUBBISH', message: `the manager of services was not understood: ${message}` },
  })
})

test('who waits for a manager that is silent may go', async () => {
  const pipe = await listening(createServer())
  const leaving = new AbortController()
  const connected = connectManager(pipe, leaving.signal)
  leaving.abort(new Error('gone'))
  await expect(connected).rejects.toThrow('gone')
})

test('a pipe that is not there is said so', async () => {
  const connected = connectManager(join(directory, 'none'), new AbortController().signal)
  await expect(connected).rejects.toMatchObject({ code: 'SCM_UNREACHABLE' })
})
