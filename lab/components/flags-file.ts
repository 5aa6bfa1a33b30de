import type { PartFlags } from './flags.ts'
import type { Part } from './parts.ts'

export interface FlagsFile {
  /** Path relative to the root of the repository. */
  readonly path: string
  readonly text: string
}

/** Renders the module in which the catalog stores the flags of a part's minor version. */
export function renderFlagsFile(part: Pick<Part, 'name' | 'version'>, flags: PartFlags): FlagsFile {
  const version = part.version.slice(1)
  const [major, minor] = version.split('.')
  return {
    path: `src/catalog/flags/${part.name}-${major}-${minor}.ts`,
    text: `import type { ProgramFlags } from '../program-flags.ts'

/** Made by npm run flags from the programs of ${part.name} ${version}; do not edit. */
export const ${part.name}_${major}_${minor} = {
${[...flags].map(([name, programFlags]) => `  ${formatKey(name)}: {\n${formatFlags(programFlags)}  },\n`).join('')}} as const satisfies ProgramFlags
`,
  }
}

function formatFlags(flags: ReadonlyMap<string, string>): string {
  return [...flags].map(([flag, kind]) => `    ${formatKey(flag)}: '${kind}',\n`).join('')
}

function formatKey(name: string): string {
  return /^\w+$/.test(name) ? name : `'${name}'`
}
