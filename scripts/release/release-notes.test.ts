import { expect, test } from 'vitest'
import { extractReleaseNotes } from './release-notes.ts'

const changelog = '# Changelog\n\n## Unreleased\n\n- new\n\n## 0.1.0 - 2026-11-18\n\n- first\n'

test('the notes are the section of the version', () => {
  expect(extractReleaseNotes(changelog, '0.1.0', false)).toBe('# hyperkube 0.1.0\n\n- first\n')
})

test('only a test release may use the section of unreleased changes', () => {
  expect(extractReleaseNotes(changelog, '0.2.0', true)).toBe('# hyperkube 0.2.0\n\n- new\n\n')
  expect(() => extractReleaseNotes(changelog, '0.2.0', false)).toThrow('no section "## 0.2.0"')
})
