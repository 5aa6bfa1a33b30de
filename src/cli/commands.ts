import type { CommandEntry } from './command.ts'

/** Every command, in the order in which help shows them. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'init',
    aliases: [],
    summary: 'write a first cluster.yml, and make the cluster’s identity',
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    name: 'validate',
    aliases: ['check'],
    summary: 'say all that is wrong with a cluster.yml, each at its place',
    load: async () => (await import('./commands/validate.ts')).validate,
  },
  {
    name: 'lock',
    aliases: [],
    summary: 'pin every file that the cluster is made of, by its digest',
    load: async () => (await import('./commands/lock.ts')).lock,
  },
  {
    name: 'plan',
    aliases: [],
    summary: 'say what would be done on each host, and in which order; do nothing',
    load: async () => (await import('./commands/plan.ts')).plan,
  },
  {
    name: 'schema',
    aliases: [],
    summary: 'print the JSON Schema of cluster.yml, for editors',
    load: async () => (await import('./commands/schema.ts')).schema,
  },
  {
    name: 'completion',
    aliases: [],
    summary: 'print a script that completes commands in your shell',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  {
    name: 'version',
    aliases: [],
    summary: 'say which hyperkube this is',
    load: async () => (await import('./commands/version.ts')).version,
  },
]

/** The command that a word or the name of a link stands for. */
export function findCommand(name: string): CommandEntry | undefined {
  return commands.find((entry) => entry.name === name || entry.aliases.includes(name))
}
