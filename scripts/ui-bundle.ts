import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'

const root = join(import.meta.dirname, '..')

/** Bundles script and style of the web interface into a directory, and returns which modules they contain. */
export async function bundleInterface(directory: string): Promise<Metafile> {
  await mkdir(directory, { recursive: true })
  const { metafile } = await build({
    metafile: true,
    entryPoints: [join(root, 'src/ui/web/ui.ts'), join(root, 'src/ui/web/ui.css')],
    outdir: directory,
    bundle: true,
    minify: true,
    platform: 'browser',
    target: ['chrome120', 'firefox120', 'safari17'],
    format: 'esm',
    logLevel: 'error',
  })
  return metafile
}

if (import.meta.main) await bundleInterface(join(root, 'dist/ui'))
