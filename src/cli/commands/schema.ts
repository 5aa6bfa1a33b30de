import { clusterJsonSchema } from '../../spec/cluster.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'

export const schemaCommand: LeafCommand = {
  examples: [
    ['hyperkube schema > cluster.schema.json', 'write the JSON Schema to a file'],
    [
      '# yaml-language-server: $schema=cluster.schema.json',
      'add as first line of cluster.yml for completion and checks in editors',
    ],
  ],
  sharedFlags: [],
  configure: () => undefined,
  async run({ stdout }) {
    stdout.write(`${JSON.stringify(clusterJsonSchema(), undefined, 2)}\n`)
    return exitCodes.ok
  },
}
