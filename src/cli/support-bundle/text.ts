import { formatCount, joinNames, toPrintable } from '../../kit/text.ts'
import type { SupportBundleResult } from './create-support-bundle.ts'

/** Formats the path, contents and size of a support bundle, and lists what is missing. */
export function formatSupportBundle(path: string, { manifest, size }: SupportBundleResult): string {
  const { hosts, files, omitted } = manifest
  const reachable = hosts.filter(({ reason }) => reason === undefined).map(({ host }) => host)
  const unreachable = hosts.filter(({ reason }) => reason !== undefined).map(({ host }) => host)
  const from = reachable.length === 0 ? '' : ` from ${joinNames(reachable)}`
  const lines = [
    `${path}: ${formatCount(files.length, 'file')}${from}, ${(size / 1e6).toFixed(1)} MB`,
    ...(unreachable.length === 0 ? [] : [`  not included, because unreachable: ${joinNames(unreachable)}`]),
    ...(omitted.length === unreachable.length
      ? []
      : [`  ${formatCount(omitted.length - unreachable.length, 'missing entry')}: reasons in manifest.json`]),
    '  secrets were removed; check the contents before you share the bundle',
  ]
  return toPrintable(lines.map((line) => `${line}\n`).join(''))
}
