import { printable } from '../../kit/printable.ts'
import { count, listed } from '../format-text.ts'
import type { MadeBundle } from './create-support-bundle.ts'

/** Where it is, what is in it and what is not. */
export function bundleText(path: string, { manifest, size }: MadeBundle): string {
  const { hosts, files, leftOut } = manifest
  const answered = hosts.filter(({ reason }) => reason === undefined).map(({ host }) => host)
  const silent = hosts.filter(({ reason }) => reason !== undefined).map(({ host }) => host)
  const from = answered.length === 0 ? '' : ` from ${listed(answered)}`
  const lines = [
    `${path}: ${count(files.length, 'file')}${from}, ${(size / 1e6).toFixed(1)} MB`,
    ...(silent.length === 0 ? [] : [`  without ${listed(silent)}, of which nothing was heard`]),
    ...(leftOut.length === silent.length
      ? []
      : [
          `  ${count(leftOut.length - silent.length, 'thing')} could not be had: manifest.json says which, and why`,
        ]),
    '  secrets were removed; look into it before you give it away',
  ]
  return printable(lines.map((line) => `${line}\n`).join(''))
}
