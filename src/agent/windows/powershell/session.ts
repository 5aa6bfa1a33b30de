import { type ChildProcess, spawn } from 'node:child_process'
import type { Argv } from '../../../kit/command.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { printable } from '../../../kit/printable.ts'
import { type Answer, readAnswer } from './answer.ts'
import { openingLine, type Request, requestLine } from './script.ts'

/** More than all networks and policies of a host; whoever says more without an end is not our script. */
const longestLine = 16 * 2 ** 20
/** Windows reads its modules, compiles, and has a virus scanner look over its shoulder. */
const startsWithin = 60_000

/** One process of PowerShell. Whatever it says out of turn, it is not believed any more. */
export interface Conversation {
  /** Rejects when the process ends, is silent for too long or says something else; it is then over. */
  ask(request: Request, within: number, signal?: AbortSignal): Promise<Answer>
  readonly over: boolean
  end(): Promise<void>
}

interface Waiting {
  readonly id: number
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

/** Starts the process, and ends it again unless the script says that it is there. */
export async function converse(argv: Argv, script: string, signal?: AbortSignal): Promise<Conversation> {
  const [program, ...args] = argv
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
  })
  let waiting: Waiting | undefined
  let failure: HyperkubeError | undefined
  const fail = (code: string, message: string, cause?: unknown): void => {
    failure ??= new HyperkubeError(code, message, cause === undefined ? {} : { cause })
    waiting?.reject(failure)
    waiting = undefined
    child.kill('SIGKILL')
  }
  const complaints = lastWords(child)
  child.once('error', (cause) => fail('POWERSHELL_ENDED', `${program} could not be run`, cause))
  child.once('close', (code) =>
    fail('POWERSHELL_ENDED', `PowerShell ended by itself with ${code ?? 'no code'}${complaints()}`),
  )
  // One that has ended is told of by its end.
  child.stdin.on('error', () => undefined)
  onLines(child, (line) => {
    const said = line === undefined ? 'rubbish' : readAnswer(line)
    if (said === 'nothing') return
    if (said === 'rubbish' || said.id !== waiting?.id) {
      const shown = printable((line ?? 'a line without an end').slice(0, 200))
      return fail('POWERSHELL_RUBBISH', `PowerShell said something that is no answer: ${shown}`)
    }
    waiting.resolve(said)
    waiting = undefined
  })

  const exchange = async (line: string, id: number, within: number, abort?: AbortSignal): Promise<Answer> => {
    abort?.throwIfAborted()
    if (failure !== undefined) throw failure
    const timer = setTimeout(
      () => fail('POWERSHELL_SILENT', `PowerShell has said nothing for ${within / 1000} s${complaints()}`),
      within,
    )
    // What was begun may still be done: who does not wait for its answer cannot ask this process anything more.
    const leave = (): void => fail('POWERSHELL_ENDED', 'nobody waited for the answer of PowerShell')
    abort?.addEventListener('abort', leave, { once: true })
    try {
      return await new Promise<Answer>((resolve, reject) => {
        waiting = { id, resolve, reject }
        child.stdin.write(line)
      })
    } catch (error) {
      abort?.throwIfAborted()
      throw error
    } finally {
      clearTimeout(timer)
      abort?.removeEventListener('abort', leave)
    }
  }

  const conversation: Conversation = {
    get over() {
      return failure !== undefined
    },
    ask: async (request, within, abort) => exchange(requestLine(request), request.id, within, abort),
    async end() {
      failure ??= new HyperkubeError('POWERSHELL_ENDED', 'PowerShell was ended')
      child.kill('SIGKILL')
      await closed
    },
  }
  try {
    await exchange(openingLine(script), 0, startsWithin, signal)
    return conversation
  } catch (error) {
    await conversation.end()
    throw error
  }
}

/** Line by line, whatever pieces they come in; without one when it is longer than any answer. */
function onLines(child: ChildProcess, tell: (line: string | undefined) => void): void {
  let rest = ''
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) tell(line)
    if (rest.length > longestLine) tell(undefined)
  })
}

/** What it complained of last, for people. */
function lastWords(child: ChildProcess): () => string {
  let words = ''
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    words = (words + piece).slice(-500)
  })
  return () => (words.trim() === '' ? '' : `: ${printable(words.trim())}`)
}
