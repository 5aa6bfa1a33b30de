import { type KeyObject } from 'node:crypto'
import { Argument } from 'commander'
import { z } from 'zod'
import type { BundleManifest } from '../../bundle/manifest.ts'
import { publicKeyText, readPublicKey } from '../../bundle/signature.ts'
import { verifyBundle } from '../../bundle/verify.ts'
import { bundleKey } from '../../identity/bundle-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import { createBundle } from '../bundle/create-bundle.ts'
import { bundleFile, bundleNotRead } from '../bundle/open-cluster-bundle.ts'
import {
  type CommandDefinition,
  type Context,
  type ExitCode,
  exitCodes,
  type Invocation,
} from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadIdentity } from '../load-identity.ts'
import { findingsText, print } from '../print.ts'
import { count } from '../format-text.ts'

const flags = z.object({ out: z.string().optional(), publicKey: z.string().optional() })
type Options = Invocation['options']

export const bundle: CommandDefinition = {
  examples: [
    ['hyperkube bundle create', 'all files and images of the cluster in one, beside cluster.yml'],
    ['hyperkube bundle create --out /media/stick/shop.bundle', 'elsewhere'],
    ['hyperkube bundle verify shop-1.37.1.bundle', 'whether it is as it was made, and by whom'],
    ['hyperkube bundle verify shop.bundle --public-key KEY', 'without the cluster’s identity'],
  ],
  identity: true,
  configure(command) {
    command
      .addArgument(new Argument('<action>', 'what to do').choices(['create', 'verify']))
      .addArgument(new Argument('[file]', 'the bundle to verify; default: that of spec.artifacts'))
      .option('--out <file>', 'where to write it (default: NAME-VERSION.bundle beside cluster.yml)')
      .option('--public-key <key>', 'whose signature it must bear, as create has printed it')
  },
  async run(context, { args, options }) {
    const [action, file] = args
    return action === 'create' ? create(context, options) : verify(context, options, file)
  },
}

async function create(context: Context, options: Options): Promise<ExitCode> {
  const { cluster, findings } = await loadCluster(context, options.file)
  context.stderr.write(findingsText(findings))
  if (cluster === undefined) return exitCodes.failure
  const { file, size, manifest, publicKey } = await createBundle(
    context,
    options,
    cluster,
    flags.parse(options).out,
  )
  const summary = { ...summaryOf(file, manifest, publicKey), size }
  print(context.stdout, options.output, summary, () =>
    printable(
      `${file}: ${contentText(manifest)}, ${Math.round(size / 1e6)} MB\n` +
        `signed; others verify it with --public-key ${publicKey}\n`,
    ),
  )
  return exitCodes.ok
}

async function verify(context: Context, options: Options, named: string | undefined): Promise<ExitCode> {
  const file = named ?? (await usualFile(context, options))
  const key = await trustedKey(context, options)
  const manifest = await verifyBundle(readable(context, file), key, ({ path }) =>
    context.stderr.write(printable(`${path} is whole\n`)),
  )
  const summary = summaryOf(file, manifest, publicKeyText(key))
  print(context.stdout, options.output, summary, () =>
    printable(`${file} is as it was made for ${manifest.cluster}: ${contentText(manifest)}\n`),
  )
  return exitCodes.ok
}

async function usualFile(context: Context, options: Options): Promise<string> {
  const { cluster } = await loadCluster(context, options.file)
  const file = cluster && bundleFile(options.file, cluster)
  if (file !== undefined) return file
  throw new HyperkubeError('BUNDLE_NOT_READ', `${options.file} names no bundle`, {
    hint: 'say which one: hyperkube bundle verify FILE',
  })
}

async function trustedKey(context: Context, options: Options): Promise<KeyObject> {
  const { publicKey } = flags.parse(options)
  if (publicKey !== undefined) return readPublicKey(publicKey)
  return bundleKey(await loadIdentity(context, options)).publicKey
}

/** What the disk says becomes an error that names the file. */
async function* readable({ bundles }: Context, file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* bundles.read(file)
  } catch (cause) {
    throw cause instanceof HyperkubeError ? cause : bundleNotRead(file, cause)
  }
}

function contentText({ lock, images }: BundleManifest): string {
  return `Kubernetes ${lock.kubernetes}, ${count(lock.artifacts.length, 'file')}, ${count(images.length, 'image')}`
}

function summaryOf(file: string, { cluster, lock, images, members }: BundleManifest, publicKey: string) {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'BundleSummary',
    file,
    cluster,
    kubernetes: lock.kubernetes,
    artifacts: lock.artifacts.length,
    images: images.map(({ reference }) => reference),
    members: members.length,
    publicKey,
  }
}
