import { stringify } from 'yaml'
import type { Finding } from '../contract/finding.ts'
import { printable } from '../kit/printable.ts'
import type { Output, OutputFormat } from './command.ts'
import { alike, listed } from './format-text.ts'

/** Prints a result: as `people` would read it, or as a versioned document for programs. */
export function print(stdout: Output, format: OutputFormat, document: object, people: () => string): void {
  switch (format) {
    case 'json':
      stdout.write(`${JSON.stringify(document, undefined, 2)}\n`)
      return
    case 'yaml':
      stdout.write(stringify(document))
      return
    case 'table':
    case 'wide':
      stdout.write(people())
  }
}

/** All of them; what is the same on many hosts is said once. */
export function findingsText(findings: readonly Finding[]): string {
  const groups = alike(findings, (finding) => JSON.stringify({ ...finding, host: undefined }))
  return groups
    .flatMap(([, [first, ...more]]) => {
      if (first === undefined) return []
      const hosts = [first, ...more].flatMap(({ host }) => host ?? [])
      return [findingText(hosts.length === 0 ? first : { ...first, host: listed(hosts) })]
    })
    .join('')
}

/** One finding as editors and terminals link it: file:line:column first. */
export function findingText({ position, severity, code, path, message, hint, host }: Finding): string {
  const place = position === undefined ? host : `${position.file}:${position.line}:${position.column}`
  const where = place === undefined ? '' : `${place}: `
  const what = path === undefined || path === '' ? message : `${path} ${message}`
  const next = hint === undefined ? '' : `  → ${hint}\n`
  return printable(`${where}${severity} ${code}: ${what}\n${next}`)
}
