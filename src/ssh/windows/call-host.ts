import { createInterface } from 'node:readline'
import { type HostAnswer, hostAnswerFormat, type HostAsk, hostCallFormat } from '../../contract/host-call.ts'
import { readTold } from '../../contract/versioned.ts'
import { asciiJson } from '../../kit/ascii.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { Argv } from '../../kit/command.ts'
import type { Conversation, OpenOptions } from '../remote.ts'

export type Answer = HostAnswer['answer']
export type AnswerTo<T extends Answer['type']> = Extract<Answer, { type: T }>

export interface Callee {
  readonly host: string
  readonly base: string
  /** Our own program there. */
  readonly program: string
  readonly open: (argv: Argv, options: OpenOptions) => Promise<Conversation>
}

/** The words that our program is called with: what it shall do, it reads. */
export const callWords = ['host-call'] as const

/** Asks our own program on a Windows host, and hears all that it has to say. It fails as the program does when it refuses. */
export async function* hearHost(
  { host, base, program, open }: Callee,
  ask: HostAsk,
  signal: AbortSignal,
): AsyncGenerator<Answer> {
  const conversation = await open([program, ...callWords], { signal })
  const call = hostCallFormat.newest.schema.parse({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'HostCall',
    base,
    ask,
  })
  conversation.stdin.on('error', () => undefined)
  conversation.stdin.write(`${asciiJson(JSON.stringify(call))}\n`)
  // Who has more to say as time goes by has to know whether anybody is still there.
  if (ask.type !== 'logs' || !ask.follow) conversation.stdin.end()
  try {
    for await (const line of createInterface({ input: conversation.stdout, crlfDelay: Infinity })) {
      const { answer } = readTold(hostAnswerFormat, parsed(line, host))
      if (answer.type === 'refused') throw refusal(answer, host)
      yield answer
      if (answer.type !== 'line' && answer.type !== 'file') return
    }
    // Only words count: a shell in between may make another code of the program's.
    const { code, stderr } = await conversation.ended
    throw wordless(host, `it ended with ${code}: ${printable(stderr.trim().split('\n').at(-1) ?? '')}`)
  } finally {
    conversation.kill()
  }
}

/** The same where there is one answer. */
export async function callHost<T extends Answer['type']>(
  callee: Callee,
  ask: HostAsk,
  expected: T,
  signal: AbortSignal,
): Promise<AnswerTo<T>> {
  for await (const answer of hearHost(callee, ask, signal)) {
    if (isAnswer(answer, expected)) return answer
    throw wordless(callee.host, `it answered with ${answer.type}, which was not asked`)
  }
  throw wordless(callee.host, 'it answered nothing')
}

function isAnswer<T extends Answer['type']>(answer: Answer, type: T): answer is AnswerTo<T> {
  return answer.type === type
}

function parsed(line: string, host: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw wordless(host, `it said: ${printable(line.slice(0, 200))}`)
  }
}

function refusal({ code, message, hint }: AnswerTo<'refused'>, host: string): HyperkubeError {
  return new HyperkubeError(code, message, { host, ...(hint === undefined ? {} : { hint }) })
}

function wordless(host: string, why: string): HyperkubeError {
  return new HyperkubeError(
    'HOST_CALL_FAILED',
    `hyperkube on the host did not do what it was asked: ${why}`,
    {
      host,
      hint: 'log in with ssh, and see what its shell says before anything is typed: it has to be cmd.exe or PowerShell',
    },
  )
}
