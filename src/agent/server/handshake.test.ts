import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { assert, asyncProperty, uint8Array } from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readLines } from '../../kit/lines.ts'
import { bridgeToAgent } from './bridge.ts'
import { authenticateAgent, authenticateClient, type LineConnection } from './handshake.ts'

/** Creates two connected sides. `sent` gets every line that either side writes. */
function connectSides(sent: string[] = []): readonly [LineConnection, LineConnection] {
  const [toAgent, toClient] = [new PassThrough(), new PassThrough()]
  const createSide = (from: PassThrough, to: PassThrough): LineConnection => ({
    lines: readLines(from),
    write: (line) => {
      sent.push(line)
      to.write(line)
    },
  })
  return [createSide(toClient, toAgent), createSide(toAgent, toClient)]
}

test('both sides accept each other if they know the same key, and never send it', async () => {
  const sent: string[] = []
  const [client, agent] = connectSides(sent)
  const key = randomBytes(32)
  expect(await Promise.all([authenticateAgent(client, key), authenticateClient(agent, key)])).toEqual([
    true,
    true,
  ])
  expect(sent).toHaveLength(3)
  expect(sent.join('')).not.toContain(key.toString('hex'))
})

test('a client sends no proof to an agent that does not know its key', async () => {
  await assert(
    asyncProperty(
      uint8Array({ minLength: 32, maxLength: 32 }),
      uint8Array({ minLength: 32, maxLength: 32 }),
      async (one, other) => {
        if (Buffer.compare(one, other) === 0) return
        const sent: string[] = []
        const [client, agent] = connectSides(sent)
        const asAgent = authenticateClient(agent, Buffer.from(other))
        expect(await authenticateAgent(client, Buffer.from(one))).toBe(false)
        expect(sent).toHaveLength(2)
        client.write('{"proof":"not known"}\n')
        expect(await asAgent).toBe(false)
      },
    ),
    { seed: 25, numRuns: 100 },
  )
})

test('a proof of the agent is not a proof of a client', async () => {
  const key = randomBytes(32)
  const [client, agent] = connectSides()
  const asAgent = authenticateClient(agent, key)
  client.write(`${JSON.stringify({ nonce: 'a'.repeat(64) })}\n`)
  const response: { proof: string } = JSON.parse(String((await client.lines.next()).value))
  client.write(`${JSON.stringify({ proof: response.proof })}\n`)
  expect(await asAgent).toBe(false)
})

let directory: string
let server: Server | undefined
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handshake-'))
})
afterEach(async () => {
  server?.close()
  await rm(directory, { recursive: true, force: true })
})

/**
 * Serves the path of the agent as a foreign process. Returns what a client with a key sends to this process.
 */
async function squat(behave: (socket: Socket, line: string) => void): Promise<string> {
  const path = join(directory, 'agent.sock')
  let received = ''
  const squatter = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString()
      behave(socket, chunk.toString())
    })
  })
  server = squatter
  await new Promise<void>((resolve) => void squatter.listen(path, resolve))
  const responses: string[] = []
  const bridged = bridgeToAgent({
    path,
    key: randomBytes(32),
    requests: Readable.from(['{"secret":"of the request"}\n']),
    onResponse: (line) => void responses.push(line),
    signal: AbortSignal.timeout(5000),
  })
  await expect(bridged).rejects.toMatchObject({ code: 'AGENT_NOT_VERIFIED' })
  expect(responses).toEqual([])
  return received
}

test.each<[string, (socket: Socket, line: string) => void]>([
  ['answers as an agent without a handshake would', (socket) => socket.write('{"body":{"type":"hello"}}\n')],
  ['returns what it gets', (socket, line) => socket.write(line)],
  [
    'guesses a proof',
    (socket) =>
      socket.write(`${JSON.stringify({ nonce: '0'.repeat(64), proof: randomBytes(32).toString('hex') })}\n`),
  ],
  ['closes the connection', (socket) => socket.destroy()],
])('a foreign process that %s gets no request', async (_name, behave) => {
  const received = await squat(behave)
  expect(JSON.parse(received)).toEqual({ nonce: expect.stringMatching(/^[0-9a-f]{64}$/) })
})
