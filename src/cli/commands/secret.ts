import { Argument } from 'commander'
import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import { Secret } from '../../pki/secret.ts'
import { dnsLabel } from '../../spec/scalars.ts'
import { loadIdentity, saveIdentity } from '../../workspace/load-identity.ts'
import { type CommandContext, type CommandGroup, exitCodes, type LeafCommand } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { choosePrompts } from '../command/prompts.ts'

const flags = z.object({ fromFile: z.string().optional() })

const setSecret: LeafCommand = {
  examples: [
    ['hyperkube secret set registry-password', 'prompt for the value; typed characters are not shown'],
    ['hyperkube secret set backup-access-key --from-file key.txt', 'read the value from a file'],
    ['hyperkube secret set registry-password --from-file /dev/stdin', 'read the value from stdin'],
  ],
  sharedFlags: ['file', 'key', 'confirm'],
  configure: (command) =>
    command
      .addArgument(new Argument('<name>', 'secret name, as used in cluster.yml'))
      .option('--from-file <path>', 'read the value from this file; a trailing newline is dropped'),
  async run(context, { args: [name = ''], options }) {
    checkSecretName(name)
    const { fromFile } = flags.parse(options)
    const prompts = fromFile === undefined ? choosePrompts(context, options) : undefined
    if (fromFile === undefined && prompts === undefined) {
      context.stderr.write('USAGE: without a terminal, the value must come from a file\n')
      context.stderr.write(`  → hyperkube secret set ${name} --from-file FILE\n`)
      return exitCodes.usage
    }
    const identity = await loadIdentity(context, options)
    const value =
      prompts === undefined
        ? await readSecretValue(context.privateFiles, name, fromFile ?? '')
        : new Secret(name, await prompts.password({ message: `value of ${name}`, check: checkNotEmpty }))
    await saveIdentity(context, options, { ...identity, secrets: { ...identity.secrets, [name]: value } })
    context.stderr.write(`${name} is stored in the cluster identity; commit the identity file\n`)
    return exitCodes.ok
  },
}

const listSecrets: LeafCommand = {
  examples: [['hyperkube secret list', 'list secret names; values are never printed']],
  sharedFlags: ['file', 'key', 'output'],
  configure: () => undefined,
  async run(context, { options }) {
    const names = Object.keys((await loadIdentity(context, options)).secrets).toSorted()
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'SecretNames', names }
    printResult(context.stdout, options.output, document, () => names.map((one) => `${one}\n`).join(''))
    return exitCodes.ok
  },
}

const removeSecret: LeafCommand = {
  examples: [['hyperkube secret remove registry-password', 'remove a secret from the cluster identity']],
  sharedFlags: ['file', 'key'],
  configure: (command) => command.addArgument(new Argument('<name>', 'secret name')),
  async run(context: CommandContext, { args: [name = ''], options }) {
    const identity = await loadIdentity(context, options)
    const { [name]: removed, ...secrets } = identity.secrets
    if (removed === undefined) {
      context.stderr.write(`${name} is not in the cluster identity; nothing changed\n`)
      return exitCodes.ok
    }
    await saveIdentity(context, options, { ...identity, secrets })
    context.stderr.write(`${name} is removed from the cluster identity; commit the identity file\n`)
    return exitCodes.ok
  },
}

export const secretCommand: CommandGroup = {
  subcommands: [
    { name: 'set', summary: 'Store a secret in the sealed cluster identity', definition: setSecret },
    { name: 'list', summary: 'List secret names', definition: listSecrets },
    { name: 'remove', summary: 'Remove a secret from the cluster identity', definition: removeSecret },
  ],
}

function checkNotEmpty(text: string): string | undefined {
  return text === '' ? 'the value must not be empty' : undefined
}

function checkSecretName(name: string): void {
  if (dnsLabel.safeParse(name).success) return
  throw new HyperkubeError('SECRET_NAME', `${name} is not a valid secret name`, {
    hint: 'use lower-case letters, digits and dashes, such as backup-access-key',
  })
}

async function readSecretValue(
  files: { readonly read: (path: string) => Promise<string> },
  name: string,
  file: string,
): Promise<Secret> {
  const text = await files.read(file).catch((cause: unknown) => {
    throw new HyperkubeError('SECRET_NOT_READ', `cannot read ${file}`, {
      hint: `check the permissions: ls -l ${file}`,
      cause,
    })
  })
  return new Secret(name, text.replace(/\r?\n$/, ''))
}
