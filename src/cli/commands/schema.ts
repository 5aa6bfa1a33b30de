import { Argument } from 'commander'
import { clusterJsonSchema } from '../../spec/cluster.ts'
import { fleetJsonSchema } from '../../spec/fleet.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'

const documents = ['cluster', 'fleet'] as const

export const schemaCommand: LeafCommand = {
  examples: [
    ['hyperkube schema > cluster.schema.json', 'write the JSON Schema to a file'],
    ['hyperkube schema fleet > fleet.schema.json', 'write the JSON Schema of fleet.yml'],
    [
      '# yaml-language-server: $schema=cluster.schema.json',
      'add as first line of cluster.yml for completion and checks in editors',
    ],
  ],
  sharedFlags: [],
  configure: (command) =>
    command.addArgument(
      new Argument('[file]', 'cluster.yml or fleet.yml').choices(documents).default('cluster'),
    ),
  async run({ stdout }, { args: [document] }) {
    const schema = document === 'fleet' ? fleetJsonSchema() : clusterJsonSchema()
    stdout.write(`${JSON.stringify(schema, undefined, 2)}\n`)
    return exitCodes.ok
  },
}
