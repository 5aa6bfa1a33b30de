import { readFile } from 'node:fs/promises'
import { listExportedDeclarations } from './declarations.ts'
import { apiReport, sdkEntries } from './sdk.ts'

/** Longer declarations are left out. Most of them are schemas, which other pages explain. */
const maxLines = 45

const introductions: Readonly<Record<string, string>> = {
  '.': 'Functions on data. They read no files, connect to no host and change nothing.',
  './contract': 'Documents that hyperkube prints and stores: plans, events, findings and status.',
  './client': 'A cluster and its hosts: the commands `status`, `doctor`, `plan` and `up` as functions.',
  './kube': 'Client for the Kubernetes API, with watches, informers, a work queue and leader election.',
}

/** Renders docs/reference/sdk.md from the report of the types. */
export async function renderSdkReference(): Promise<string> {
  const files = parseApiReport(await readFile(apiReport, 'utf8'))
  const sections = Object.entries(sdkEntries).map(([entry, source]) => {
    const heading = `## ${entry.replace(/^\./, 'hyperkube')}\n\n${introductions[entry] ?? ''}`
    const parts = listExportedDeclarations(files, source.replace(/\.ts$/, '.d.ts'))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, text }) => renderDeclaration(name, text))
    return [heading, ...parts].join('\n\n')
  })
  return `${introduction}\n${sections.join('\n\n')}\n`
}

const introduction = `# SDK

Written by \`npm run reference\` from the types of the npm package. [How to use the SDK](../how-to/sdk.md) has an example for each entry point.
Types that are not exported here are internal, and may change in every release.
`

/** Reads the declaration files in the report. */
export function parseApiReport(report: string): ReadonlyMap<string, string> {
  const sections = report.split(/^==== /m).slice(1)
  return new Map(
    sections.map((section) => {
      const end = section.indexOf('\n')
      return [section.slice(0, end), section.slice(end + 1)]
    }),
  )
}

function renderDeclaration(name: string, text: string): string {
  const comment = /^\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n/.exec(text)
  const description = (comment?.[1] ?? '').replaceAll(/^\s*\* ?/gm, '').trim()
  const code = text.slice(comment?.[0].length ?? 0).replaceAll(/^export (?:declare )?/gm, '')
  const isLong = code.split('\n').length > maxLines || code.includes('z.infer<')
  return [
    `### ${name}`,
    ...(description === '' ? [] : [description.replaceAll(/\s*\n\s*/g, ' ')]),
    isLong ? `A type with many fields: see \`src/sdk/api-report.txt\`.` : `\`\`\`ts\n${code}\n\`\`\``,
  ].join('\n\n')
}
