import { chmod, mkdir, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { requestFormat } from '../../contract/request.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { linuxLayout } from '../host/layout.ts'
import { agentPipe } from '../windows/agent-pipe.ts'
import { answer, type Desk, response } from './dispatch.ts'
import { lines } from './lines.ts'
import { failureOf } from '../runs/runs.ts'

/** Where root finds the agent of a host, and administrators that of a Windows host. */
export function agentSocket(platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? agentPipe : `${linuxLayout.runtime}/agent.sock`
}

/** Whoever does not take their answer for so long does not get it. */
const patience = 5000

export interface AgentServer {
  /** Hears nothing more. What it is answering gets to whoever asked. */
  close(): Promise<void>
}

/** Listens for requests, one in a line; answers in lines. Only root comes near it. */
export async function serveAgent(desk: Desk, path: string): Promise<AgentServer> {
  // A pipe of Windows is no file: it goes with whoever made it, and others than the system and administrators cannot write to it.
  const isFile = path !== agentPipe
  if (isFile) await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // Left behind by an agent that was killed.
  if (isFile) await rm(path, { force: true })
  /** Each conversation, with what ends it after the answer that it is at. */
  const conversations = new Map<Socket, () => void>()
  // Whoever has asked all may close their side, and still hear the answers.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const leaving = Promise.withResolvers<undefined>()
    conversations.set(socket, () => leaving.resolve(undefined))
    socket.once('close', () => conversations.delete(socket))
    converse(desk, socket, leaving.promise).catch(() => socket.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  if (isFile) await chmod(path, 0o600)
  return {
    async close() {
      const late = setTimeout(() => conversations.forEach((_, socket) => socket.destroy()), patience)
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      conversations.forEach((leave) => leave())
      await closed
      clearTimeout(late)
    },
  }
}

async function converse(desk: Desk, socket: Socket, leaving: Promise<undefined>): Promise<void> {
  const gone = new AbortController()
  socket.once('close', () => gone.abort())
  socket.on('error', () => gone.abort())
  const requests = lines(socket)
  for (;;) {
    const next = await Promise.race([requests.next(), leaving])
    if (next === undefined || next.done === true) break
    for await (const message of answerLine(desk, next.value, gone.signal)) {
      if (gone.signal.aborted) return
      if (!socket.write(`${JSON.stringify(message)}\n`)) await drained(socket, gone.signal)
    }
  }
  // Once all that was written is on its way.
  socket.destroySoon()
}

async function* answerLine(desk: Desk, line: string, signal: AbortSignal): ReturnType<typeof answer> {
  let request
  try {
    request = readVersioned(requestFormat, JSON.parse(line))
  } catch (error) {
    yield response({ type: 'refused', ...failureOf(error) })
    return
  }
  yield* answer(desk, request, signal)
}

async function drained(socket: Socket, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    socket.once('drain', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
