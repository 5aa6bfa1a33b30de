import { stringify } from 'yaml'
import { printable } from '../../kit/printable.ts'
import { readRke1 } from '../../spec/rke1/read-rke1.ts'
import { countVerdicts, type KeyReport, reportLine, type Verdict, verdicts } from '../../spec/rke1/report.ts'
import type { Context } from '../command.ts'
import { findingText } from '../print.ts'
import { readSource } from '../read-source.ts'
import { clusterText } from './file-header.ts'

const headings: Readonly<Record<Verdict, string>> = {
  mapped: 'mapped: it has a place in the new file',
  dropped: 'dropped: hyperkube needs no such setting',
  unsupported: 'unsupported: you must decide',
  unknown: 'unknown: no key of RKE1',
}

/** What a cluster.yml of RKE1 is in ours, with a word on every key of it. Undefined when there is no cluster in it. */
export async function translate(context: Context, from: string): Promise<string | undefined> {
  const { cluster, report, findings } = readRke1(await readSource(context, from))
  for (const verdict of verdicts) context.stderr.write(group(report, verdict))
  for (const finding of findings) context.stderr.write(findingText(finding))
  if (report.length > 0) context.stderr.write(`${totals(report)}\n`)
  return cluster === undefined ? undefined : clusterText(stringify(cluster))
}

function group(report: readonly KeyReport[], verdict: Verdict): string {
  const lines = report.filter((key) => key.verdict === verdict).map((key) => `  ${reportLine(key)}\n`)
  return lines.length === 0 ? '' : printable(`${headings[verdict]}\n${lines.join('')}\n`)
}

function totals(report: readonly KeyReport[]): string {
  const counts = countVerdicts(report)
  return verdicts.map((verdict) => `${counts[verdict]} ${verdict}`).join(', ')
}
