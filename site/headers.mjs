// SPDX-License-Identifier: Apache-2.0
// The C API as one page: the headers are the manual, so they are shown as they are.
import {readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';

export function headersPage(folder) {
  let page = '# The C API\n\nThe headers are the manual of the library; [pawl from C](guides/c-library.md) has a worked example.\n\n';
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.h')).sort()) {
    const text = readFileSync(join(folder, name), 'utf8').replace(/^\/\/ SPDX.*\n/, '');
    page += `## pawl/${name}\n\n\`\`\`c\n${text}\`\`\`\n\n`;
  }
  return page;
}
