import { Argument } from 'commander'
import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import { Secret } from '../../pki/secret.ts'
import { dnsLabel } from '../../spec/scalars.ts'
import { type CommandDefinition, exitCodes } from '../command/command.ts'
import { loadIdentity, saveIdentity } from '../../workspace/load-identity.ts'
import { printResult } from '../command/print.ts'

const flags = z.object({ fromFile: z.string().optional() })

export const secretCommand: CommandDefinition = {
  examples: [
    [
      'hyperkube secret set backup-access-key --from-file key.txt',
      'store a secret in the sealed cluster identity',
    ],
    ['hyperkube secret set registry-password --from-file /dev/stdin', 'read the value from stdin'],
    ['hyperkube secret list', 'list secret names; values are never printed'],
    ['hyperkube secret remove registry-password', 'remove a secret from the cluster identity'],
  ],
  identity: true,
  configure(command) {
    command
      .addArgument(new Argument('<action>', 'action to run').choices(['set', 'list', 'remove']))
      .addArgument(new Argument('[name]', 'secret name, as used in cluster.yml'))
      .option('--from-file <path>', 'set: read the value from this file; a trailing newline is dropped')
  },
  async run(context, { args, options }) {
    const [action, name] = args
    const { fromFile } = flags.parse(options)
    if (action !== 'list' && (name === undefined || (action === 'set' && fromFile === undefined))) {
      context.stderr.write(
        `USAGE: hyperkube secret ${action} NAME${action === 'set' ? ' --from-file FILE' : ''}\n`,
      )
      return exitCodes.usage
    }
    const identity = await loadIdentity(context, options)
    if (name === undefined || action === 'list') {
      const names = Object.keys(identity.secrets).toSorted()
      const document = { apiVersion: 'hyperkube.dev/v1', kind: 'SecretNames', names }
      printResult(context.stdout, options.output, document, () => names.map((one) => `${one}\n`).join(''))
      return exitCodes.ok
    }
    const { [name]: _, ...others } = identity.secrets
    const added =
      fromFile === undefined
        ? {}
        : { [checkSecretName(name)]: await readSecretValue(context.privateFiles, name, fromFile) }
    await saveIdentity(context, options, { ...identity, secrets: { ...others, ...added } })
    context.stderr.write(`${name} is ${action === 'set' ? 'in' : 'not in'} the identity now; commit it\n`)
    return exitCodes.ok
  },
}

function checkSecretName(name: string): string {
  if (dnsLabel.safeParse(name).success) return name
  throw new HyperkubeError('SECRET_NAME', `${name} is no name for a secret`, {
    hint: 'lower-case letters, digits and dashes: backup-access-key',
  })
}

async function readSecretValue(
  files: { readonly read: (path: string) => Promise<string> },
  name: string,
  file: string,
): Promise<Secret> {
  const text = await files.read(file).catch((cause: unknown) => {
    throw new HyperkubeError('SECRET_NOT_READ', `${file} could not be read`, {
      hint: `look at ls -l ${file}`,
      cause,
    })
  })
  return new Secret(name, text.replace(/\r?\n$/, ''))
}
