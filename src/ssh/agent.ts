import ssh2, {
  type BaseAgent,
  type IdentityCallback,
  type ParsedKey,
  type SignCallback,
  type SigningRequestOptions,
} from 'ssh2'
import { waitUnlessAborted } from './deadline.ts'

/** Lists the keys of an ssh agent, each as an agent of its own. Empty if no agent responds. */
export async function listAgentKeys(socket: string, signal: AbortSignal): Promise<readonly AgentKey[]> {
  const agent = ssh2.createAgent(socket)
  return waitUnlessAborted([signal], ({ succeed }) => {
    agent.getIdentities((error, keys = []) => {
      // Key types that the library does not know, such as those of hardware tokens, are left out.
      const known = keys.filter((key) => typeof key === 'object' && 'getPublicSSH' in key)
      succeed(error ? [] : known.map((key) => new AgentKey(agent, key)))
    })
  })
}

/** Wraps a single key, so that we know which keys were offered and how the host responded to each. */
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
