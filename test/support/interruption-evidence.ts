import type { RoundResult } from './interrupted-round.ts'
import { interruptionKinds } from './interruption.ts'
import type { Undoing } from './pending-work.ts'

export interface Evidence {
  readonly date: Date
  /** What `hyperkube version` says. */
  readonly hyperkube: string
  readonly kubernetes: string
  readonly shape: string
  readonly seed: number
  readonly rounds: readonly (RoundResult & { readonly undoing: Undoing })[]
}

/** What came of all rounds, as it is kept. */
export function evidenceText({ date, hyperkube, kubernetes, shape, seed, rounds }: Evidence): string {
  const rows = rounds.map(({ interruption, undoing, moment, ended, recovery, wrong }, index) =>
    [
      index + 1,
      undoing,
      interruption.kind,
      interruption.kind.startsWith('cli') ? '' : interruption.host,
      moment,
      ended,
      `${recovery.toFixed(1)} s`,
      wrong.length === 0 ? 'yes' : 'no',
    ].join(' | '),
  )
  const kinds = interruptionKinds.map((kind) => {
    const own = rounds.filter(({ interruption }) => interruption.kind === kind)
    const alone = own.filter(({ ended }) => ended === 'went on by itself')
    return `| ${kind} | ${own.length} | ${alone.length} | ${own.filter(({ wrong }) => wrong.length > 0).length} |`
  })
  return `# Interruptions of \`up\`

Written by \`npm run e2e:full\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes}, ${shape} hosts,
seed ${seed} (\`INTERRUPTIONS_SEED=${seed}\` takes the same points again).

In each round \`up\` has something to do, on fresh hosts, after a change of every component, or after drift, and something
happens to it when a certain event is told. The next \`up\` follows at once. A round has gone well when the interrupted one
ended as it should, the next one ended with 0 without being forced, a further one had nothing to do, no claim and no pod
of a trial was left, all nodes were Ready, and authorities, the ids of etcd and its members, and the id of the cluster
were those that were known before.

| interruption | rounds | went on by itself | failed |
|---|---|---|---|
${kinds.join('\n')}

| | what there was to do | interruption | host | when this was told | how that \`up\` ended | the next \`up\` | well |
|---|---|---|---|---|---|---|---|
${rows.map((row) => `| ${row} |`).join('\n')}
`
}
