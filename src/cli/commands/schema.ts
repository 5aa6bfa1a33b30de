import { clusterJsonSchema } from '../../spec/cluster.ts'
import { type CommandDefinition, exitCodes } from '../command/command.ts'

export const schemaCommand: CommandDefinition = {
  examples: [
    ['hyperkube schema > cluster.schema.json', 'then, as the first line of cluster.yml:'],
    ['# yaml-language-server: $schema=cluster.schema.json', 'and your editor completes and checks it'],
  ],
  configure: () => undefined,
  async run({ stdout }) {
    stdout.write(`${JSON.stringify(clusterJsonSchema(), undefined, 2)}\n`)
    return exitCodes.ok
  },
}
