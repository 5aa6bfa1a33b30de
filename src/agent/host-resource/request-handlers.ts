import type { HostAsk } from '../../contract/host-resource.ts'

/** How each thing that can be asked is done. Each answers with lines for people; what it throws is how it failed. */
export type Deeds = {
  readonly [T in HostAsk['type']]: (
    ask: Extract<HostAsk, { readonly type: T }>,
    signal: AbortSignal,
  ) => Promise<readonly string[]>
}

export async function perform(deeds: Deeds, ask: HostAsk, signal: AbortSignal): Promise<readonly string[]> {
  switch (ask.type) {
    case 'check':
      return deeds[ask.type](ask, signal)
    case 'capture-logs':
      return deeds[ask.type](ask, signal)
    case 'renew-certificates':
      return deeds[ask.type](ask, signal)
    case 'defragment-etcd':
      return deeds[ask.type](ask, signal)
    default:
      return deeds[ask.type](ask, signal)
  }
}
