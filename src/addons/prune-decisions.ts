import { settleAll } from '../kit/settle-all.ts'
import type { KubeClient } from '../kube/client.ts'
import type { CallOptions } from '../kube/request.ts'
import { insideOf } from './namespace-contents.ts'
import type { Entry } from './inventory.ts'
import { look } from './live-objects.ts'
import { type Elsewhere, type Verdict, verdictOn } from './decide-prune.ts'

/** Looks at what entries are about, and decides on each. `former` are the verdicts on what goes before them. */
export async function judge(
  client: KubeClient,
  entries: readonly Entry[],
  elsewhere: Elsewhere,
  former: readonly Verdict[],
  options: CallOptions = {},
): Promise<Verdict[]> {
  const going = new Set(
    former.flatMap((verdict) => (verdict.act === 'remove' ? (verdict.object.metadata.uid ?? []) : [])),
  )
  return settleAll(
    entries.map(async (entry) => {
      const object = await look(client, entry, options)
      const inside = object === undefined ? [] : await insideOf(client, object, options)
      return verdictOn(entry, object, inside, going, elsewhere)
    }),
  )
}
