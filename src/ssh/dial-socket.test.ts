import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import ssh2, { type Connection } from 'ssh2'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connectBuiltIn } from './built-in-ssh.ts'
import { createLocalRemote } from './local-remote.ts'
import type { Remote } from './remote.ts'
import { generateTestKeyPair } from './testing/host-keys.ts'

const { signal } = new AbortController()
let directory = ''
let socketPath = ''
let echo: Server
let sshd: ssh2.Server
let clients: Connection[] = []
/** Paths of the sockets that clients requested. */
let requested: string[] = []
let isPermitted = true

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-socket-'))
  socketPath = join(directory, 'echo.sock')
  ;[clients, requested, isPermitted] = [[], [], true]
  echo = createServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket))
  echo.listen(socketPath)
  await once(echo, 'listening')
  const keys = generateTestKeyPair('ecdsa')
  await writeFile(join(directory, 'key'), keys.private, { mode: 0o600 })
  sshd = new ssh2.Server({ hostKeys: [keys.private] }, (client) => {
    clients.push(client)
    client.on('error', () => undefined)
    client.on('authentication', (context) =>
      context.method === 'publickey' ? context.accept() : context.reject(['publickey']),
    )
    client.on('openssh.streamlocal', (accept, reject, { socketPath: path }) => {
      requested.push(path)
      if (!isPermitted) return reject()
      const socket = connect(path)
      socket.once('error', () => reject())
      socket.once('connect', () => {
        const channel: Duplex = accept()
        channel.pipe(socket).pipe(channel)
        channel.on('close', () => socket.destroy())
      })
    })
  })
  sshd.listen(0, '127.0.0.1')
  await once(sshd, 'listening')
})

afterEach(async () => {
  for (const client of clients) client.end()
  sshd.close()
  echo.close()
  await rm(directory, { recursive: true })
})

async function logInAs(user: string): Promise<Remote> {
  const address = sshd.address()
  if (address === null || typeof address === 'string') throw new Error('the sshd does not listen')
  const { port } = address
  const keys = [{ path: join(directory, 'key'), from: 'settings' } as const]
  const hop = { name: 'cp1', alias: 'cp1', address: '127.0.0.1', port, user, keys }
  return connectBuiltIn(
    { ...hop, onlyKeys: true, agent: false, bastions: [] },
    { signal, verify: () => 'first-use' },
  )
}

async function exchange(stream: Duplex | undefined, word: string): Promise<string | undefined> {
  stream?.write(word)
  return stream && String((await once(stream, 'data'))[0])
}

test('root connects to a unix socket of the host through ssh', async () => {
  const remote = await logInAs('root')
  const stream = await remote.dialSocket?.(socketPath, { signal })
  expect(await exchange(stream, 'hello')).toBe('hello')
  await remote.close()
})

test('the stream closes when the socket closes', async () => {
  const remote = await logInAs('root')
  const stream = await remote.dialSocket?.(socketPath, { signal })
  const closed = stream && once(stream.resume(), 'close')
  stream?.end()
  await closed
  expect(stream?.destroyed).toBe(true)
  await remote.close()
})

test('dialSocket returns undefined if the host forbids socket forwarding', async () => {
  isPermitted = false
  const remote = await logInAs('root')
  expect(await remote.dialSocket?.(socketPath, { signal })).toBeUndefined()
  await remote.close()
})

test('dialSocket returns undefined if the socket does not exist', async () => {
  const remote = await logInAs('root')
  expect(await remote.dialSocket?.(join(directory, 'none'), { signal })).toBeUndefined()
  await remote.close()
})

test('dialSocket sends no request for a user other than root', async () => {
  const remote = await logInAs('ana')
  expect(await remote.dialSocket?.(socketPath, { signal })).toBeUndefined()
  expect(requested).toEqual([])
  await remote.close()
})

test('dialSocket fails with SSH_LOST after the connection is closed', async () => {
  const remote = await logInAs('root')
  await remote.close()
  await expect(remote.dialSocket?.(socketPath, { signal })).rejects.toMatchObject({ code: 'SSH_LOST' })
})

test.runIf(process.getuid?.() === 0)('a local remote connects to sockets of this machine', async () => {
  const remote = createLocalRemote('here')
  expect(await exchange(await remote.dialSocket?.(socketPath, { signal }), 'hello')).toBe('hello')
  expect(await remote.dialSocket?.(join(directory, 'none'), { signal })).toBeUndefined()
  await remote.close()
})
