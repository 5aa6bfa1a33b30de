import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Remote } from '../../ssh/remote.ts'
import { scriptedSession, successfulRun } from '../testing/scripted-agent.ts'
import { openAgentLink } from './open-agent-link.ts'

const { signal } = new AbortController()
let directory = ''
let server: Server

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-agent-'))
  // An agent that answers one request and closes the connection.
  server = createServer((socket) => {
    createInterface({ input: socket }).once('line', () => {
      const body = { type: 'hello', version: '0.1.0-socket' }
      socket.end(`${JSON.stringify({ apiVersion: 'hyperkube.dev/v1', kind: 'AgentResponse', body })}\n`)
    })
  })
  server.listen(join(directory, 'agent.sock'))
  await once(server, 'listening')
})

afterEach(async () => {
  server.close()
  await rm(directory, { recursive: true })
})

/** A host whose `agent-call` reports version 0.1.0. */
function buildRemote(dialSocket?: Remote['dialSocket']): Remote {
  const { remote } = scriptedSession('cp1', { run: successfulRun, requests: [] })
  if (remote === undefined) throw new Error('there is no remote')
  return { ...remote, ...(dialSocket === undefined ? {} : { dialSocket }) }
}

async function dialServer(): ReturnType<NonNullable<Remote['dialSocket']>> {
  const socket = connect(join(directory, 'agent.sock'))
  await once(socket, 'connect')
  return socket
}

test('the agent is reached through its socket if ssh forwarding is permitted', async () => {
  const link = await openAgentLink(buildRemote(dialServer), signal)
  expect(await link.request({ type: 'hello' }, 'hello')).toMatchObject({ version: '0.1.0-socket' })
})

test('a request after the agent closed its socket fails with AGENT_GONE', async () => {
  const link = await openAgentLink(buildRemote(dialServer), signal)
  await link.request({ type: 'hello' }, 'hello')
  await expect(link.request({ type: 'hello' }, 'hello')).rejects.toMatchObject({ code: 'AGENT_GONE' })
})

test('a request on a lost connection fails with the error of the connection', async () => {
  const lost = Object.assign(new Error('the network is down'), { code: 'SSH_LOST' })
  const link = await openAgentLink(
    buildRemote(async () => (await dialServer())?.destroy(lost)),
    signal,
  )
  await expect(link.request({ type: 'hello' }, 'hello')).rejects.toBe(lost)
})

test.each([
  ['refuses forwarding', async () => undefined],
  ['does not support forwarding', undefined],
])('agent-call is used if the host %s', async (_, dialSocket) => {
  const link = await openAgentLink(buildRemote(dialSocket), signal)
  expect(await link.request({ type: 'hello' }, 'hello')).toMatchObject({ version: '0.1.0' })
})
