import { stringify } from 'yaml'
import type { Finding } from '../contract/finding.ts'
import { printable } from '../kit/printable.ts'
import type { Output, OutputFormat } from './command.ts'

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

/** One finding as editors and terminals link it: file:line:column first. */
export function findingText({ position, severity, code, path, message, hint }: Finding): string {
  const where = position === undefined ? '' : `${position.file}:${position.line}:${position.column}: `
  const what = path === undefined || path === '' ? message : `${path} ${message}`
  const next = hint === undefined ? '' : `  → ${hint}\n`
  return printable(`${where}${severity} ${code}: ${what}\n${next}`)
}
