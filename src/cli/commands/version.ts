import { z } from 'zod'
import packageFile from '../../../package.json' with { type: 'json' }
import { toPrintable } from '../../kit/text.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { verifyDownload } from '../version/verify-download.ts'

const flags = z.object({ verify: z.string().optional(), publicKey: z.string().optional() })

export const versionCommand: LeafCommand = {
  examples: [
    ['hyperkube version -o json', 'print version, Node.js version and platform as JSON'],
    [
      'hyperkube version --verify hyperkube-linux-x64',
      'verify a download with SHA256SUMS and SHA256SUMS.minisig beside it',
    ],
  ],
  sharedFlags: ['output'],
  configure: (command) =>
    command
      .option('--verify <file>', 'verify this file of a release: signature of the checksums, and checksum')
      .option('--public-key <key>', 'with --verify, use this public key (default: key in this program)'),
  async run(context, { options }) {
    const { verify, publicKey } = flags.parse(options)
    if (verify !== undefined) {
      const verified = await verifyDownload(context, verify, publicKey)
      const document = { apiVersion: 'hyperkube.dev/v1', kind: 'VerifiedDownload', ...verified }
      printResult(context.stdout, options.output, document, () =>
        toPrintable(`${verify}: valid, ${verified.release}\n`),
      )
      return exitCodes.ok
    }
    const document = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'Version',
      version: packageFile.version,
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
    }
    printResult(context.stdout, options.output, document, () => `hyperkube ${document.version}\n`)
    return exitCodes.ok
  },
}
