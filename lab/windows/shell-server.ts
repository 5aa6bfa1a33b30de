import { createServer, type Socket } from 'node:net'
import { win32 } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { runningRelease } from '../../src/agent/host/running-release.ts'
import { bridge } from '../../src/agent/server/bridge.ts'
import type { CallScene } from '../../src/agent/windows/bootstrap/host-call-context.ts'
import { serveCall } from '../../src/agent/windows/bootstrap/serve-host-call.ts'
import { inflict } from './simulator/faults.ts'
import type { SimulatedWindows } from './simulator/simulated-windows.ts'
import { windowsPlaces } from '../../src/contract/windows-paths.ts'
import { asciiJson } from '../../src/kit/ascii.ts'
import { exists } from '../../src/kit/files.ts'
import { type Adjustment, adjustmentIn } from './test-command.ts'
import { lookAt } from './machine-summary.ts'
import { home } from './paths.ts'

export interface Sockets {
  /** Where lines come to. */
  readonly shellSocket: string
  readonly agentSocket: string
}

/** Answers lines of logins, each over a connection of its own: the line first, then all that is typed. */
export async function answerLines(windows: SimulatedWindows, sockets: Sockets): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    const say = (text: string): void => void socket.write(text)
    firstLine(socket)
      .then(async ({ line, rest }) => answerLine(windows, line, { requests: rest, say, ...sockets }))
      .then(
        () => socket.end(),
        (error: unknown) => socket.end(`${String(error)}\r\n`),
      )
  })
  await new Promise<void>((resolve) => void server.listen(sockets.shellSocket, resolve))
}

export interface Talk extends Pick<Sockets, 'agentSocket'> {
  /** All that is typed after the line. */
  readonly requests: Readable
  readonly say: (text: string) => void
}

export async function answerLine(windows: SimulatedWindows, line: string, talk: Talk): Promise<void> {
  const { requests, say, agentSocket } = talk
  const adjustment = adjustmentIn(line)
  if (adjustment !== undefined) return say(`${JSON.stringify(adjusted(windows, adjustment))}\n`)
  const [program = '', word = ''] = line.split(' ')
  const file = win32.resolve(home, program)
  if (!(await exists(windows.place(file))))
    return say(`'${program}' is not recognized as an internal or external command\r\n`)
  if (word === 'agent-call') {
    const { signal } = new AbortController()
    const answer = (text: string): void => say(asciiJson(text))
    await bridge({ path: agentSocket, requests, answer, signal }).catch(() => undefined)
  } else if (word === 'host-call') {
    await serveCall({ requests, answer: say, sceneAt: sceneFor(windows, file) })
  }
}

/** The host as the program that was called finds it: that is what it may make the host's agent. */
function sceneFor({ host, place }: SimulatedWindows, file: string) {
  return (base: string, gone: AbortSignal): CallScene => ({
    host: { ...host, release: runningRelease(host.release.version, place, place(file)) },
    places: windowsPlaces(base),
    arch: 'x64',
    used: async () => 0.5,
    gone,
  })
}

function adjusted({ machine }: SimulatedWindows, adjustment: Adjustment): object | boolean {
  switch (adjustment.lab) {
    case 'look':
      return lookAt(machine)
    case 'remove-rule':
      return machine.rules.delete(adjustment.name)
    default:
      inflict(machine, adjustment)
      return true
  }
}

/** The line, and a stream of all that comes after it. */
async function firstLine(socket: Socket): Promise<{ line: string; rest: PassThrough }> {
  const rest = new PassThrough()
  let head: Buffer = Buffer.alloc(0)
  return new Promise((resolve, reject) => {
    const heard = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf(0x0a)
      if (end === -1) return
      socket.off('data', heard)
      rest.write(head.subarray(end + 1))
      socket.pipe(rest)
      resolve({ line: head.subarray(0, end).toString('utf8'), rest })
    }
    socket.on('data', heard)
    socket.once('close', () => reject(new Error('nobody has said anything')))
  })
}
