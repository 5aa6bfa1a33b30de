import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { clusterJsonSchema } from '../src/spec/cluster.ts'
import { fleetJsonSchema } from '../src/spec/fleet.ts'
import { charts } from './charts.ts'
import { renderCliReference } from './cli-reference.ts'
import { renderControllersReference } from './controllers-reference.ts'
import { diagrams } from './diagram-pictures.ts'
import { renderErrorsReference } from './errors-reference.ts'
import { renderFilesReference } from './files-reference.ts'
import { renderTroubleshooting } from './troubleshooting.ts'
import { renderSdkReference } from './sdk-reference.ts'
import { renderVersionsReference } from './versions-reference.ts'
import { renderWeakeningReference } from './weakening-reference.ts'

type Schema = ReturnType<typeof clusterJsonSchema>

/** Renders docs/reference/cluster.md from the schema, so the page lists exactly the existing settings. */
export function renderClusterReference(): string {
  return renderSchemaReference(
    'cluster.yml',
    `Made by \`npm run reference\` from the schema in src/spec; do not edit. \`hyperkube schema\` prints the same for editors,
\`hyperkube validate\` checks a file.`,
    clusterJsonSchema(),
  )
}

/** Renders docs/reference/fleet.md. Settings that clusters inherit are on the page of cluster.yml. */
export function renderFleetReference(): string {
  const { $defs, ...root } = fleetJsonSchema()
  const own = Object.entries($defs ?? {}).filter(([name]) => name.startsWith('Fleet'))
  const { FleetDefaults, ...others } = Object.fromEntries(own)
  const { values, ...settings } = FleetDefaults?.properties ?? {}
  const description = typeof values === 'object' ? (values.description ?? '') : ''
  const described: Record<string, Schema> = { values: { type: 'object', description } }
  return renderSchemaReference(
    'fleet.yml',
    `Made by \`npm run reference\` from the schema in src/spec; do not edit. \`hyperkube schema fleet\` prints the same for editors.
[Manage many clusters](../how-to/fleet.md) explains it.`,
    {
      ...root,
      $defs: { ...others, FleetDefaults: { ...FleetDefaults, properties: { ...settings, ...described } } },
    },
  )
}

function renderSchemaReference(title: string, text: string, root: Schema): string {
  const named = Object.entries(root.$defs ?? {}).filter(([name]) => !name.startsWith('__'))
  const sections = named.flatMap(([name, schema]) =>
    schema.properties === undefined ? [] : [renderSection(name, schema)],
  )
  const values = named.filter(([, schema]) => schema.properties === undefined)
  const table = `## Values

| name | what it is |
|---|---|
${values.map(([name, schema]) => `| <a id="${name.toLowerCase()}"></a>${name} | ${schema.description ?? typeText(schema)} |`).join('\n')}
`
  return `# ${title}

${text}

${sections.join('\n')}
${values.length === 0 ? '' : table}`
}

function renderSection(name: string, schema: Schema): string {
  return `## ${name}

${schema.description ?? ''}

${renderTable(schema)}
${renderNested(schema)}`
}

/** Renders maps that have no definition of their own, below the setting that contains them. */
function renderNested(schema: Schema, prefix = ''): string {
  return Object.entries(properties(schema))
    .filter(([, field]) => field.properties !== undefined)
    .map(
      ([name, field]) =>
        `### ${prefix}${name}\n\n${field.description ?? ''}\n\n${renderTable(field)}\n${renderNested(field, `${prefix}${name}.`)}`,
    )
    .join('')
}

function renderTable(schema: Schema): string {
  const required = new Set(schema.required)
  const rows = Object.entries(properties(schema)).map(([name, field]) => {
    const fallback = field.default === undefined ? '' : `\`${JSON.stringify(field.default)}\``
    return `| \`${name}\` | ${typeText(field)} | ${required.has(name) ? '**required**' : fallback} | ${field.description ?? ''} |`
  })
  return `| setting | type | default | |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

function properties(schema: Schema): Record<string, Schema> {
  const entries = Object.entries(schema.properties ?? {})
  return Object.fromEntries(
    entries.filter((entry): entry is [string, Schema] => typeof entry[1] !== 'boolean'),
  )
}

function typeText(schema: Schema | boolean | undefined): string {
  if (schema === undefined || typeof schema === 'boolean') return 'anything'
  if (schema.$ref !== undefined) return refText(schema.$ref.replace('#/$defs/', ''))
  if (schema.const !== undefined) return `\`${String(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeText))].join(' or ')
  if (schema.type === 'array') return `list of ${typeText([schema.items].flat()[0])}`
  if (schema.properties === undefined && schema.type === 'object') return 'map'
  return (
    { string: 'text', integer: 'whole number', boolean: 'true or false', object: 'map' }[
      String(schema.type)
    ] ?? String(schema.type ?? 'anything')
  )
}

function refText(name: string): string {
  return name.startsWith('__') ? 'anything' : `[${name}](#${name.toLowerCase()})`
}

/** Renderers of all documents that are generated from code, by path in docs. */
export const references: Readonly<Record<string, () => string | Promise<string>>> = {
  'reference/cli.md': renderCliReference,
  'reference/cluster.md': renderClusterReference,
  'reference/fleet.md': renderFleetReference,
  'reference/controllers.md': renderControllersReference,
  'reference/errors.md': renderErrorsReference,
  'reference/files.md': renderFilesReference,
  'reference/sdk.md': renderSdkReference,
  'reference/versions.md': renderVersionsReference,
  'reference/weakening-settings.md': renderWeakeningReference,
  'troubleshooting.md': renderTroubleshooting,
  ...diagrams,
  ...charts,
}

export async function readCommittedReference(file: string): Promise<string> {
  return readFile(join(directory, file), 'utf8')
}

const directory = join(import.meta.dirname, '../docs')

if (import.meta.main) {
  for (const [file, text] of Object.entries(references)) await writeFile(join(directory, file), await text())
}
