import type { PartFlags } from './flags.ts'
import type { Part } from './parts.ts'

export interface FlagsFile {
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
}

/** The module in which the catalog keeps the flags of a part's minor. */
export function flagsFile(part: Pick<Part, 'name' | 'version'>, flags: PartFlags): FlagsFile {
  const version = part.version.slice(1)
  const [major, minor] = version.split('.')
  return {
    path: `src/catalog/flags/${part.name}-${major}-${minor}.ts`,
    text: `import type { ProgramFlags } from '../program.ts'

/** Made by npm run flags from the programs of ${part.name} ${version}; do not edit. */
export const ${part.name}_${major}_${minor} = {
${[...flags].map(([name, ofProgram]) => `  ${key(name)}: {\n${lines(ofProgram)}  },\n`).join('')}} as const satisfies ProgramFlags
`,
  }
}

function lines(flags: ReadonlyMap<string, string>): string {
  return [...flags].map(([flag, kind]) => `    ${key(flag)}: '${kind}',\n`).join('')
}

function key(name: string): string {
  return /^\w+$/.test(name) ? name : `'${name}'`
}
