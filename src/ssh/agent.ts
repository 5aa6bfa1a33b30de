import ssh2, {
  type BaseAgent,
  type IdentityCallback,
  type ParsedKey,
  type SignCallback,
  type SigningRequestOptions,
} from 'ssh2'
import { unlessAborted } from './deadline.ts'

/** The keys that an ssh agent holds, each as an agent of that key alone; none when there is no agent that answers. */
export async function agentKeys(socket: string, signal: AbortSignal): Promise<readonly AgentKey[]> {
  const agent = ssh2.createAgent(socket)
  return unlessAborted([signal], ({ succeed }) => {
    agent.getIdentities((error, keys = []) => {
      // Kinds that the library does not know, such as those of hardware tokens, are not among them.
      const known = keys.filter((key) => typeof key === 'object' && 'getPublicSSH' in key)
      succeed(error ? [] : known.map((key) => new AgentKey(agent, key)))
    })
  })
}

/** One key at a time, so that it is known which were offered and what the host said to each. */
export class AgentKey extends ssh2.BaseAgent<ParsedKey> {
  readonly key: ParsedKey
  readonly #agent: BaseAgent

  constructor(agent: BaseAgent, key: ParsedKey) {
    super()
    this.#agent = agent
    this.key = key
  }

  override getIdentities(callback: IdentityCallback<ParsedKey>): void {
    callback(undefined, [this.key])
  }

  override sign(
    key: ParsedKey,
    data: Buffer,
    options: SigningRequestOptions | SignCallback,
    callback?: SignCallback,
  ): void {
    if (typeof options === 'function') this.#agent.sign(key, data, options)
    else this.#agent.sign(key, data, options, callback)
  }
}
