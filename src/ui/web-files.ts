import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getAsset, isSea } from 'node:sea'
import { hasCode, HyperkubeError } from '../kit/errors.ts'

export interface WebFile {
  readonly type: string
  readonly content: string
}

/** Files of the interface by their path in the browser. */
export type WebFiles = ReadonlyMap<string, WebFile>

/** Names of the bundled files inside the executable, and beside the program in the npm package. */
export const webAssets = { script: 'ui.js', style: 'ui.css' } as const

/** Reads the bundled script and style of the interface. */
export async function readWebFiles(): Promise<WebFiles> {
  return buildWebFiles(await readAsset(webAssets.script), await readAsset(webAssets.style))
}

export function buildWebFiles(script: string, style: string): WebFiles {
  return new Map([
    ['', { type: 'text/html; charset=utf-8', content: page }],
    [webAssets.script, { type: 'text/javascript; charset=utf-8', content: script }],
    [webAssets.style, { type: 'text/css; charset=utf-8', content: style }],
    ['icon.svg', { type: 'image/svg+xml', content: icon }],
  ])
}

async function readAsset(name: string): Promise<string> {
  if (isSea()) return getAsset(name, 'utf8')
  // A program that runs from its sources uses what `npm run ui` has built.
  const directories = [import.meta.dirname, join(import.meta.dirname, '../../dist/ui')]
  for (const directory of directories) {
    try {
      return await readFile(join(directory, name), 'utf8')
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
  throw new HyperkubeError('UI_NOT_BUILT', `this program does not contain ${name}`, { hint: 'npm run ui' })
}

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>hyperkube</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="${webAssets.style}">
<script type="module" src="${webAssets.script}"></script>
</head>
<body><div id="app"></div></body>
</html>
`

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0d74ce"/>' +
  '<path d="M5 3v10M11 3v10M5 8h6" stroke="#fff" stroke-width="2"/></svg>\n'
