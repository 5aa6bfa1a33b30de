import { stringify } from 'yaml'
import { toPrintable } from '../../kit/text.ts'
import { readRke1 } from '../../spec/rke1/read-rke1.ts'
import {
  countVerdicts,
  formatKeyReport,
  type KeyReport,
  type KeyVerdict,
  keyVerdicts,
} from '../../spec/rke1/rule.ts'
import { missingRke1File, readClusterSource } from '../../workspace/load-cluster.ts'
import type { CommandContext } from '../command/command.ts'
import { formatFinding } from '../command/print.ts'
import { addFileHeader } from './file-header.ts'

const headings: Readonly<Record<KeyVerdict, string>> = {
  mapped: 'mapped: converted to a setting of the new file',
  dropped: 'dropped: hyperkube does not need this setting',
  unsupported: 'unsupported: needs your decision',
  unknown: 'unknown: not an RKE1 key',
}

/**
 * Translates a cluster.yml of RKE1 to one of hyperkube and prints how each key was handled. Returns undefined
 * if the file does not describe a cluster.
 */
export async function translateRke1(context: CommandContext, from: string): Promise<string | undefined> {
  const { cluster, report, findings } = readRke1(await readClusterSource(context, from, missingRke1File))
  for (const verdict of keyVerdicts) context.stderr.write(formatGroup(report, verdict))
  for (const finding of findings) context.stderr.write(formatFinding(finding))
  if (report.length > 0) context.stderr.write(`${formatTotals(report)}\n`)
  return cluster === undefined ? undefined : addFileHeader(stringify(cluster))
}

function formatGroup(report: readonly KeyReport[], verdict: KeyVerdict): string {
  const lines = report.filter((key) => key.verdict === verdict).map((key) => `  ${formatKeyReport(key)}\n`)
  return lines.length === 0 ? '' : toPrintable(`${headings[verdict]}\n${lines.join('')}\n`)
}

function formatTotals(report: readonly KeyReport[]): string {
  const counts = countVerdicts(report)
  return keyVerdicts.map((verdict) => `${counts[verdict]} ${verdict}`).join(', ')
}
