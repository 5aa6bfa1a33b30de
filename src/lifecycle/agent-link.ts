import { createInterface } from 'node:readline'
import { z } from 'zod'
import { type Event, eventFormat, eventTypes } from '../contract/event.ts'
import { type AgentRequest, type AgentResponse, requestFormat, responseFormat } from '../contract/request.ts'
import { readTold } from '../contract/versioned.ts'
import { asciiJson } from '../kit/ascii.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { inTurns } from '../kit/mutex.ts'
import type { Conversation } from '../ssh/remote.ts'

export type Ask = AgentRequest['ask']
export type Answer = AgentResponse['answer']
type AnswerTo<T extends Answer['type']> = Extract<Answer, { type: T }>

const eventHead = z.looseObject({ kind: z.literal('Event'), what: z.looseObject({ type: z.string() }) })

/** A conversation with the agent of a host: one question after the other. */
export class AgentLink {
  readonly #host: string
  /** What to type on the host when it is gone. */
  readonly #hint: string
  readonly #conversation: Conversation
  readonly #lines: AsyncIterator<string>
  /** Answers come in the order of questions, so the next one is asked when the last is answered. */
  readonly #inTurn = inTurns()

  constructor(host: string, conversation: Conversation, hint: string) {
    this.#host = host
    this.#hint = hint
    this.#conversation = conversation
    this.#lines = createInterface({ input: conversation.stdout, crlfDelay: Infinity })[Symbol.asyncIterator]()
  }

  /** Asks, and fails as the agent does when it refuses. */
  async ask<T extends Answer['type']>(
    ask: Exclude<Ask, { type: 'attach' }>,
    expected: T,
  ): Promise<AnswerTo<T>> {
    return this.#inTurn(async () => {
      this.#send(ask)
      const { answer } = readTold(responseFormat, await this.#next())
      if (answer.type === 'refused') throw this.#refusal(answer)
      if (!isAnswer(answer, expected)) throw this.#nonsense(answer.type)
      return answer
    })
  }

  /** Hands over the events of a run from one on, until it has ended. */
  async attach(run: string, from: number, heard: (event: Event) => void): Promise<void> {
    await this.#inTurn(async () => {
      this.#send({ type: 'attach', run, from })
      for (;;) {
        const message = await this.#next()
        const head = eventHead.safeParse(message)
        if (!head.success) {
          const { answer } = readTold(responseFormat, message)
          throw answer.type === 'refused' ? this.#refusal(answer) : this.#nonsense(answer.type)
        }
        // A newer agent may tell more than we know to show.
        if (!eventTypes.has(head.data.what.type)) continue
        const event = readTold(eventFormat, message)
        heard(event)
        if (event.what.type === 'run-ended') return
      }
    })
  }

  close(): void {
    this.#conversation.kill()
  }

  #send(ask: Ask): void {
    const request = requestFormat.newest.schema.parse({
      apiVersion: 'hyperkube.dev/v1',
      kind: 'AgentRequest',
      ask,
    })
    this.#conversation.stdin.write(`${asciiJson(JSON.stringify(request))}\n`)
  }

  async #next(): Promise<unknown> {
    const { value, done } = await this.#lines.next()
    if (done !== true) return JSON.parse(value)
    const { code, stderr } = await this.#conversation.ended
    throw new HyperkubeError('AGENT_GONE', `its agent hung up (${code}) ${stderr.trim()}`, {
      host: this.#host,
      hint: this.#hint,
    })
  }

  #refusal({ code, message, hint }: AnswerTo<'refused'>): HyperkubeError {
    return new HyperkubeError(code, message, {
      host: this.#host,
      ...(hint === undefined ? {} : { hint }),
    })
  }

  #nonsense(type: string): HyperkubeError {
    return new HyperkubeError(
      'AGENT_STRANGE_ANSWER',
      `its agent answered with ${type}, which was not asked`,
      {
        host: this.#host,
        hint: 'hyperkube version, here and on the host',
      },
    )
  }
}

function isAnswer<T extends Answer['type']>(answer: Answer, type: T): answer is AnswerTo<T> {
  return answer.type === type
}
