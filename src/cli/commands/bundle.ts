import { type KeyObject } from 'node:crypto'
import { Argument } from 'commander'
import { z } from 'zod'
import type { BundleManifest } from '../../bundle/manifest.ts'
import { formatPublicKey, readPublicKey } from '../../bundle/signature.ts'
import { verifyBundle } from '../../bundle/verify.ts'
import { deriveBundleKey } from '../../identity/bundle-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/printable.ts'
import { createBundle } from '../bundle/create-bundle.ts'
import { findBundlePath, buildBundleReadError } from '../bundle/open-cluster-bundle.ts'
import {
  type CommandDefinition,
  type CommandContext,
  type ExitCode,
  exitCodes,
  type Invocation,
} from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadIdentity } from '../load-identity.ts'
import { formatFindings, printResult } from '../print.ts'
import { formatCount } from '../format-text.ts'

const flags = z.object({ out: z.string().optional(), publicKey: z.string().optional() })
type Options = Invocation['options']

export const bundleCommand: CommandDefinition = {
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
    return action === 'create' ? runCreate(context, options) : runVerify(context, options, file)
  },
}

async function runCreate(context: CommandContext, options: Options): Promise<ExitCode> {
  const { cluster, findings } = await loadCluster(context, options.file)
  context.stderr.write(formatFindings(findings))
  if (cluster === undefined) return exitCodes.failure
  const { file, size, manifest, publicKey } = await createBundle(
    context,
    options,
    cluster,
    flags.parse(options).out,
  )
  const summary = { ...buildSummary(file, manifest, publicKey), size }
  printResult(context.stdout, options.output, summary, () =>
    toPrintable(
      `${file}: ${formatContent(manifest)}, ${Math.round(size / 1e6)} MB\n` +
        `signed; others verify it with --public-key ${publicKey}\n`,
    ),
  )
  return exitCodes.ok
}

async function runVerify(
  context: CommandContext,
  options: Options,
  requestedFile: string | undefined,
): Promise<ExitCode> {
  const file = requestedFile ?? (await findDefaultFile(context, options))
  const key = await loadTrustedKey(context, options)
  const manifest = await verifyBundle(readBundleFile(context, file), key, ({ path }) =>
    context.stderr.write(toPrintable(`${path} is whole\n`)),
  )
  const summary = buildSummary(file, manifest, formatPublicKey(key))
  printResult(context.stdout, options.output, summary, () =>
    toPrintable(`${file} is as it was made for ${manifest.cluster}: ${formatContent(manifest)}\n`),
  )
  return exitCodes.ok
}

async function findDefaultFile(context: CommandContext, options: Options): Promise<string> {
  const { cluster } = await loadCluster(context, options.file)
  const file = cluster && findBundlePath(options.file, cluster)
  if (file !== undefined) return file
  throw new HyperkubeError('BUNDLE_NOT_READ', `${options.file} names no bundle`, {
    hint: 'say which one: hyperkube bundle verify FILE',
  })
}

async function loadTrustedKey(context: CommandContext, options: Options): Promise<KeyObject> {
  const { publicKey } = flags.parse(options)
  if (publicKey !== undefined) return readPublicKey(publicKey)
  return deriveBundleKey(await loadIdentity(context, options)).publicKey
}

/** Reads a bundle, and converts disk errors to errors that name the file. */
async function* readBundleFile({ bundles }: CommandContext, file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* bundles.read(file)
  } catch (cause) {
    throw cause instanceof HyperkubeError ? cause : buildBundleReadError(file, cause)
  }
}

function formatContent({ lock, images }: BundleManifest): string {
  return `Kubernetes ${lock.kubernetes}, ${formatCount(lock.artifacts.length, 'file')}, ${formatCount(images.length, 'image')}`
}

function buildSummary(file: string, { cluster, lock, images, members }: BundleManifest, publicKey: string) {
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
