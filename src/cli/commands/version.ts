import packageFile from '../../../package.json' with { type: 'json' }
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'

export const versionCommand: LeafCommand = {
  examples: [['hyperkube version -o json', 'print version, Node.js version and platform as JSON']],
  sharedFlags: ['output'],
  configure: () => undefined,
  async run({ stdout }, { options }) {
    const document = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'Version',
      version: packageFile.version,
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
    }
    printResult(stdout, options.output, document, () => `hyperkube ${document.version}\n`)
    return exitCodes.ok
  },
}
