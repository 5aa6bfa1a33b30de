import { hostname, userInfo } from 'node:os'
import type { CommandOutput } from './terminal.ts'

/**
 * Makes output the same on every machine and release: removes times, addresses, digests, versions and sizes.
 * It also removes host progress lines, whose order varies.
 */
export function normalizeOutput({ args, text, code }: CommandOutput, directory: string): string {
  const shownArgs = args.filter((arg, index) => arg !== '--ignore' && args[index - 1] !== '--ignore')
  const lines = text
    .replaceAll(/^\d\d:\d\d (?:(?:cp|w)\d[:/]|waiting ).*\n/gm, '')
    .replaceAll(/^\d\d:\d\d/gm, '00:00')
    .replaceAll(/^ {2}\+ .*$/gm, (line) => line.replaceAll(/\d+/g, 'N'))
    .replaceAll(/\d+ changes?/g, 'N changes')
    .replaceAll(directory, 'DIRECTORY')
    .replaceAll(`${userInfo().username}@${hostname()}`, 'ana@laptop')
    .replaceAll(/\(process \d+\)/g, '(process N)')
    .replaceAll(/[\dT-]+\.\d{3}Z-/g, 'TIME-')
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'DIGEST')
    .replaceAll(/SHA256:[\w+/]{43}/g, 'SHA256:FINGERPRINT')
    .replaceAll(/\d+\.\d+\.\d+\.\d+(?::\d{4,5})?/g, 'ADDRESS')
    .replaceAll(/\d+\.\d+\.\d+(?:-[0-9a-f]{8})?/g, 'VERSION')
    .replaceAll(/\d+ min \d\d s\b|\b\d+(?:\.\d)? m?s\b/g, 'TIME')
    .replaceAll(/ {2,}TIME/g, '  TIME')
    .replaceAll(/\d+(?:\.\d)? [KMG]iB/g, 'SIZE')
  return `$ hyperkube ${shownArgs.join(' ')}\n${lines}exit ${code}\n`
}
