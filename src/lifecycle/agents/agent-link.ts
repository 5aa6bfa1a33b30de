import { z } from 'zod'
import { type Event, eventFormat, eventTypes } from '../../contract/event.ts'
import {
  type AgentRequest,
  type AgentResponse,
  requestFormat,
  responseFormat,
} from '../../contract/request.ts'
import { readVersionedLenient } from '../../contract/versioned.ts'
import { createMutex } from '../../kit/concurrency.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toAsciiJson, toPrintable } from '../../kit/text.ts'
import { readProgramLines } from '../../ssh/program-lines.ts'
import type { RunningProgram } from '../../ssh/remote.ts'
import { buildNotInstalledError } from './host-program.ts'

export type AgentRequestBody = AgentRequest['body']
export type AgentResponseBody = AgentResponse['body']
type ResponseTo<T extends AgentResponseBody['type']> = Extract<AgentResponseBody, { type: T }>

const eventHead = z.looseObject({ kind: z.literal('Event'), body: z.looseObject({ type: z.string() }) })

/** A connection to the agent of a host. It handles one request at a time. */
export class AgentLink {
  readonly #host: string
  /** Command that the operator can run on the host if the agent closes the connection. */
  readonly #hint: string
  readonly #conversation: RunningProgram
  readonly #lines: AsyncIterator<string>
  /** Responses carry no request id and arrive in order, so each request waits for the previous response. */
  readonly #runExclusive = createMutex()

  constructor(host: string, conversation: RunningProgram, hint: string, maxLineBytes?: number) {
    this.#host = host
    this.#hint = hint
    this.#conversation = conversation
    this.#lines = readProgramLines(conversation, { host, what: 'the agent', hint }, maxLineBytes)
  }

  /** Sends a request and returns its response. If the agent refuses the request, its error is thrown. */
  async request<T extends AgentResponseBody['type']>(
    body: Exclude<AgentRequestBody, { type: 'attach' }>,
    expected: T,
  ): Promise<ResponseTo<T>> {
    return this.#runExclusive(async () => {
      this.#send(body)
      const { body: response } = readVersionedLenient(responseFormat, await this.#next())
      if (response.type === 'refused') throw this.#refusal(response)
      if (!isResponse(response, expected)) throw this.#unexpectedResponse(response.type)
      return response
    })
  }

  /** Passes the events of a run to `onEvent`, from sequence number `from` until the run has ended. */
  async attach(run: string, from: number, onEvent: (event: Event) => void): Promise<void> {
    await this.#runExclusive(async () => {
      this.#send({ type: 'attach', run, from })
      for (;;) {
        const message = await this.#next()
        const head = eventHead.safeParse(message)
        if (!head.success) {
          const { body: response } = readVersionedLenient(responseFormat, message)
          throw response.type === 'refused'
            ? this.#refusal(response)
            : this.#unexpectedResponse(response.type)
        }
        // A newer agent may send event types that this release does not know. Such events are skipped.
        if (!eventTypes.has(head.data.body.type)) continue
        const event = readVersionedLenient(eventFormat, message)
        onEvent(event)
        if (event.body.type === 'run-ended') return
      }
    })
  }

  close(): void {
    this.#conversation.kill()
  }

  #send(body: AgentRequestBody): void {
    const request = requestFormat.newest.schema.parse({
      apiVersion: 'hyperkube.dev/v1',
      kind: 'AgentRequest',
      body,
    })
    this.#conversation.stdin.write(`${toAsciiJson(JSON.stringify(request))}\n`)
  }

  async #next(): Promise<unknown> {
    const { value, done } = await this.#lines.next()
    if (done !== true) return this.#parse(value)
    const { code, stderr } = await this.#conversation.ended
    if (isProgramMissing(code, stderr)) throw buildNotInstalledError(this.#host)
    throw new HyperkubeError(
      'AGENT_GONE',
      `the agent closed the connection (exit code ${code}) ${stderr.trim()}`,
      {
        host: this.#host,
        hint: this.#hint,
      },
    )
  }

  #parse(line: string): unknown {
    try {
      return JSON.parse(line)
    } catch {
      throw this.#unexpectedResponse(toPrintable(line.slice(0, 200)))
    }
  }

  #refusal({ code, message, hint }: ResponseTo<'refused'>): HyperkubeError {
    return new HyperkubeError(code, message, {
      host: this.#host,
      ...(hint === undefined ? {} : { hint }),
    })
  }

  #unexpectedResponse(type: string): HyperkubeError {
    return new HyperkubeError('AGENT_PROTOCOL_ERROR', `the agent sent an unexpected response: ${type}`, {
      host: this.#host,
      hint: 'compare the versions: run hyperkube version on this machine and on the host',
    })
  }
}

function isResponse<T extends AgentResponseBody['type']>(
  response: AgentResponseBody,
  type: T,
): response is ResponseTo<T> {
  return response.type === type
}

/** True if the host has no program of hyperkube. sudo reports this with exit code 1 instead of 127. */
function isProgramMissing(code: number, stderr: string): boolean {
  return code === 127 || (code === 1 && /^sudo: .*: command not found$/m.test(stderr))
}
