import type { RoundResult } from './interrupted-round.ts'
import { interruptionKinds } from './interruption.ts'
import type { WorkKind } from './pending-work.ts'

/** Name of a page in docs/evidence, without its ending. */
export type InterruptionPage = 'interruptions' | 'upgrade-interruptions'

/** Title of each page, and a sentence about the work of `up` in each round. */
const pages: Readonly<Record<InterruptionPage, { readonly title: string; readonly introduction: string }>> = {
  interruptions: {
    title: 'Interruptions of `up`',
    introduction: `In each round \`up\` has something to do, on fresh hosts, after a change of every component, or after drift, and it is
interrupted when it reports a certain event.`,
  },
  'upgrade-interruptions': {
    title: 'Interruptions of `upgrade`',
    introduction: `In each round \`up\` upgrades the cluster from Kubernetes 1.36.4 to 1.37.1, as \`hyperkube upgrade\` does, and it is
interrupted when it reports a certain event.`,
  },
}

export interface InterruptionEvidence {
  readonly page: InterruptionPage
  readonly date: Date
  /** Output of `hyperkube version`. */
  readonly hyperkube: string
  readonly kubernetes: string
  readonly shape: string
  readonly seed: number
  readonly rounds: readonly (RoundResult & { readonly work: WorkKind })[]
}

/** Renders the results of all rounds. */
export function formatInterruptionEvidence(evidence: InterruptionEvidence): string {
  const { date, hyperkube, kubernetes, shape, seed, rounds } = evidence
  const page = pages[evidence.page]
  const rows = rounds.map(({ interruption, work, moment, ended, recovery, problems }, index) =>
    [
      index + 1,
      work,
      interruption.kind,
      interruption.kind.startsWith('cli') ? '' : interruption.host,
      moment,
      ended,
      `${recovery.toFixed(1)} s`,
      problems.length === 0 ? 'yes' : 'no',
    ].join(' | '),
  )
  const kinds = interruptionKinds.map((kind) => {
    const ofKind = rounds.filter(({ interruption }) => interruption.kind === kind)
    const continued = ofKind.filter(({ ended }) => ended === 'continued by itself')
    return `| ${kind} | ${ofKind.length} | ${continued.length} | ${ofKind.filter(({ problems }) => problems.length > 0).length} |`
  })
  return `# ${page.title}

Written by \`npm run e2e:full\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes}, ${shape} hosts,
seed ${seed} (\`INTERRUPTIONS_SEED=${seed}\` repeats the same points).

${page.introduction} The next \`up\` follows at once. A round passes when the interrupted run
ended as it should, the next one ended with 0 without being forced, a further one had nothing to do, no operator lock and no
smoke test pod was left, all nodes were Ready, and CAs, the ids of etcd and its members, and the id of the cluster
had not changed.

| interruption | rounds | continued by itself | failed |
|---|---|---|---|
${kinds.join('\n')}

| | what there was to do | interruption | host | at this event | how that \`up\` ended | the next \`up\` | passed |
|---|---|---|---|---|---|---|---|
${rows.map((row) => `| ${row} |`).join('\n')}
`
}
