// SPDX-License-Identifier: Apache-2.0
// The page: runs each figure, draws it as charts with the reference values of the checks as marks,
// and puts figures, checks and cost into one file that needs nothing else.
#include "cli/reproduce_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SERIES = 48, MOST_MARKS = 400, NAME_LENGTH = 64, PATH_LENGTH = 4096 };

static void put_html(FILE* to, const char* text) {
  for (const char* c = text; *c; c++) {
    if (*c == '<') {
      fputs("&lt;", to);
    } else if (*c == '&') {
      fputs("&amp;", to);
    } else {
      fputc(*c, to);
    }
  }
}

int page_open(Page* page) {
  *page = (Page){0};
  page->body = open_memstream(&page->text, &page->length);
  return page->body ? 0 : complain_memory();
}

void page_close(Page* page) {
  if (page->body) {
    fclose(page->body);
  }
  free(page->text);
}

// ---- runs ---------------------------------------------------------------------------------------
typedef struct Trajectory {
  const Variant* variant;
  PawlModel* model;
  PawlSystem* system;
  StudyRun run;
  double seconds;
  long long steps;
} Trajectory;

static const Example* example_of(const char* name) {
  for (const Example* e = examples; e->name; e++) {
    if (strcmp(e->name, name) == 0) {
      return e;
    }
  }
  return NULL;
}

// Words "name=value" with blanks between them; `text` is split in place.
static int words_of(char* text, int most, char** words) {
  return *text ? study_split(text, ' ', most, words) : 0;
}

static PawlStatus load(const char* model, const Variant* v, Trajectory* out, PawlError* err) {
  enum { MOST = 16 };
  char text[200], *words[MOST];
  const Example* e = example_of(model);
  snprintf(text, sizeof text, "%s", v->parameters);
  int count = words_of(text, MOST, words);
  PawlStatus status = pawl_model_parse(e->text, e->length, e->name, count,
                                       (const char* const*)words, &out->model, err);
  return status ? status : pawl_system_create(out->model, &out->system, err);
}

static PawlStatus settle(const Variant* v, const PawlModel* model, char* method, char* settings,
                         PawlSimulateDef* def, PawlError* err) {
  enum { MOST = 16 };
  char* words[MOST];
  PawlStatus status = PAWL_OK;
  *def = pawl_model_simulate(model);
  study_set_method(def, method);
  snprintf(settings, 200, "%s", v->settings);
  int count = words_of(settings, MOST, words);
  for (int k = 0; status == PAWL_OK && k < count; k++) {
    char* equals = strchr(words[k], '=');
    *equals = '\0';
    status = pawl_simulate_def_set(def, words[k], equals + 1, err);
  }
  return status;
}

static PawlStatus follow(const char* model, const Variant* v, Trajectory* out, PawlError* err) {
  char method[64], settings[200];
  PawlSimulateDef def;
  snprintf(method, sizeof method, "%s", v->method);
  *out = (Trajectory){.variant = v, .run.corrections = true};
  PawlStatus status = load(model, v, out, err);
  status = status ? status : settle(v, out->model, method, settings, &def, err);
  if (status != PAWL_OK) {
    return status;
  }
  def.record = 0.0;  // every step, so that a jump is one
  status = study_run(out->system, &def, &out->run);
  if (status != PAWL_OK) {
    *err = out->run.err;
    return status;
  }
  PawlSummary summary = pawl_sim_summary(out->run.sim);
  out->seconds = summary.wall_seconds;
  out->steps = summary.work.steps;
  return PAWL_OK;
}

static void trajectory_destroy(Trajectory* t) {
  study_run_destroy(&t->run);
  pawl_system_destroy(t->system);
  pawl_model_destroy(t->model);
}

// ---- charts -------------------------------------------------------------------------------------
typedef struct Lines {
  int count;
  PawlSeries series[MOST_SERIES];
  char names[MOST_SERIES][NAME_LENGTH];
  double* numbers[MOST_SERIES];
} Lines;

// Adds a series with room for `points`; NULL: there is none, or memory is short.
static PawlSeries* add_series(Lines* lines, const char* name, int colour, PawlSeriesStyle style,
                              int points) {
  if (lines->count == MOST_SERIES) {
    return NULL;
  }
  int k = lines->count;
  lines->numbers[k] = malloc(2 * ((size_t)points + 1) * sizeof(double));
  if (!lines->numbers[k]) {
    return NULL;
  }
  snprintf(lines->names[k], NAME_LENGTH, "%s", name ? name : "");
  lines->series[k] =
      (PawlSeries){name ? lines->names[k] : NULL, colour, style, 0, lines->numbers[k],
                   lines->numbers[k] + points + 1};
  lines->count++;
  return &lines->series[k];
}

static void add_point(PawlSeries* series, double x, double y) {
  ((double*)series->x)[series->count] = x;
  ((double*)series->y)[series->count] = y;
  series->count++;
}

static bool add_curve(Lines* lines, const PawlRecorder* recorder, int column, const char* name,
                      int colour) {
  int samples = pawl_recorder_sample_count(recorder);
  PawlSeries* series = add_series(lines, name, colour, PAWL_SERIES_LINE, samples);
  for (int i = 0; series && i < samples; i++) {
    const double* sample = pawl_recorder_sample(recorder, i);
    add_point(series, sample[0], sample[column]);
  }
  return series != NULL;
}

// Is `word` one of a list with commas?
static bool is_listed(const char* list, const char* word) {
  size_t length = strlen(word);
  for (const char* at = list; (at = strstr(at, word)); at++) {
    bool begins = at == list || at[-1] == ',';
    if (begins && (at[length] == ',' || at[length] == '\0')) {
      return true;
    }
  }
  return false;
}

static const char* impact_of(const char* settings, size_t* length) {
  const char* at = strstr(settings, "impact=");
  *length = at ? strcspn(at, " ") : 0;
  return at ? at : "";
}

// Does the case compute what the variant shows?
static bool is_same(const Case* c, const char* model, const Variant* v) {
  size_t a, b;
  const char *ours = impact_of(v->settings, &a), *theirs = impact_of(c->settings, &b);
  return strcmp(c->model, model) == 0 && strcmp(c->parameters, v->parameters) == 0 &&
         is_listed(c->methods, v->method) && a == b && strncmp(ours, theirs, a) == 0 &&
         (c->kind == CASE_RUN || c->kind == CASE_STEPPING);
}

// The reference value of a check, when it is one of this column, and its time.
static bool reference_of(const Check* check, const PawlRecorder* recorder, const char* column,
                         double* t) {
  bool rate = check->measure == RATE_BEFORE || check->measure == RATE_AFTER;
  *t = check->at;
  if (rate && check->name) {
    const PawlEvent* event = pawl_recorder_event(recorder, check->event - 1);
    size_t length = strlen(check->name);
    *t = event ? event->t : NAN;
    return event && strncmp(column, check->name, length) == 0 && strcmp(column + length, "'") == 0;
  }
  double end = study_sample_time(recorder, pawl_recorder_sample_count(recorder) - 1);
  return check->measure == VALUE && check->name && strcmp(check->name, column) == 0 &&
         isfinite(check->at) && check->at <= end;
}

static void add_references(Lines* lines, const Paper* paper, const char* model, const Variant* v,
                           const PawlRecorder* recorder, const char* column, int colour) {
  PawlSeries* series = NULL;
  for (int k = 0; k < paper->case_count; k++) {
    const Case* c = &paper->cases[k];
    for (int i = 0; is_same(c, model, v) && i < c->check_count; i++) {
      double t;
      if (!reference_of(&c->checks[i], recorder, column, &t)) {
        continue;
      }
      series = series ? series : add_series(lines, NULL, colour, PAWL_SERIES_MARKS, MOST_MARKS);
      if (series && series->count < MOST_MARKS) {
        add_point(series, t, c->checks[i].reference);
      }
    }
  }
}

// One panel: a curve for each column of each run.
static bool fill_panel(Lines* lines, const Paper* paper, const Figure* f, const Panel* panel,
                       int count, const Trajectory* runs) {
  char list[200], *columns[8];
  bool good = true;
  snprintf(list, sizeof list, "%s", panel->columns);
  int width = 0;
  for (char* at = list; at && width < 8;) {  // names may hold a comma, not one with a blank
    columns[width++] = at;
    at = strstr(at, ", ");
    if (at) {
      *at = '\0';
      at += 2;
    }
  }
  for (int v = 0; v < count; v++) {
    const PawlRecorder* recorder = pawl_sim_recorder(runs[v].run.sim);
    for (int k = 0; k < width; k++) {
      int column = study_column(recorder, columns[k]), colour = count > 1 ? v : k;
      const char* name = count > 1 ? runs[v].variant->label : width > 1 ? columns[k] : NULL;
      good = good && column >= 0 && add_curve(lines, recorder, column, name, colour);
      add_references(lines, paper, f->model, runs[v].variant, recorder, columns[k], colour);
    }
  }
  return good;
}

static bool draw_panels(FILE* to, const Paper* paper, const Figure* f, int count,
                        const Trajectory* runs, bool* references) {
  PawlChart charts[MOST_PANELS] = {0};
  Lines* lines = calloc(MOST_PANELS, sizeof *lines);
  int panels = 0;
  bool good = lines != NULL;
  for (; good && panels < MOST_PANELS && f->panels[panels].columns; panels++) {
    const Panel* panel = &f->panels[panels];
    good = fill_panel(&lines[panels], paper, f, panel, count, runs);
    charts[panels] = (PawlChart){.x_label = "t [s]",
                                 .y_label = panel->title,
                                 .y_log = strncmp(panel->columns, "residual.", 9) == 0,
                                 .series_count = lines[panels].count,
                                 .series = lines[panels].series};
  }
  PawlChartDef def = {.columns = panels > 1 ? 2 : 1,
                      .width = 360,
                      .height = 170,
                      .chart_count = panels,
                      .charts = charts};
  char* svg = NULL;
  good = good && pawl_chart_svg(&def, &svg, NULL) == PAWL_OK;
  fputs(svg ? svg : "", to);
  pawl_string_free(svg);
  *references = false;
  for (int p = 0; lines && p < MOST_PANELS; p++) {
    for (int k = 0; k < lines[p].count; k++) {
      *references = *references || lines[p].series[k].style == PAWL_SERIES_MARKS;
      free(lines[p].numbers[k]);
    }
  }
  free(lines);
  return good;
}

// ---- figures ------------------------------------------------------------------------------------
static void put_command(FILE* to, const Figure* f, const Variant* v) {
  fprintf(to, "<code>pawl run %s --method ", f->model);
  put_html(to, strncmp(v->method, "event-driven:", 13) == 0 ? "event-driven" : v->method);
  const char* lists[] = {v->parameters, v->settings};
  for (int k = 0; k < 2; k++) {
    for (const char* at = lists[k]; *at;) {
      int length = (int)strcspn(at, " "), name = (int)strcspn(at, "=");
      if (k == 0) {
        fprintf(to, " -p %.*s", length, at);
      } else {
        fprintf(to, " --%.*s %.*s", name, at, length - name - 1, at + name + 1);
      }
      at += length + (at[length] == ' ');
    }
  }
  fputs("</code>", to);
}

static void put_caption(FILE* to, const Figure* f, int count, const Trajectory* runs,
                        bool references) {
  fprintf(to, "<figcaption><b>%s.</b> ", f->number);
  put_html(to, f->caption);
  fputs(references ? " Dots: reference values.<br>" : "<br>", to);
  for (int k = 0; k < count; k++) {
    put_command(to, f, runs[k].variant);
    fprintf(to, " %lld steps in %.3g s", runs[k].steps, runs[k].seconds);
    fputs(k + 1 < count ? "<br>" : "", to);
  }
  fputs("</figcaption></figure>\n", to);
}

static void put_figure(Page* page, const Paper* paper, const Figure* f) {
  Trajectory runs[MOST_VARIANTS];
  PawlError err = {0};
  PawlStatus status = PAWL_OK;
  int count = 0;
  fputs("<figure>\n", page->body);
  while (status == PAWL_OK && count < MOST_VARIANTS && f->variants[count].method) {
    status = follow(f->model, &f->variants[count], &runs[count], &err);
    count++;
  }
  bool references = false;
  bool good = status == PAWL_OK && draw_panels(page->body, paper, f, count, runs, &references);
  if (good) {
    put_caption(page->body, f, count, runs, references);
  } else {
    fprintf(page->body, "<figcaption><b>%s.</b> not drawn: ", f->number);
    put_html(page->body, err.message);
    fputs("</figcaption></figure>\n", page->body);
    complain(EXIT_RUN, "%s, %s: not drawn: %s", f->paper, f->number, err.message);
  }
  page->figures++;
  page->not_drawn += !good;
  for (int k = 0; k < count; k++) {
    trajectory_destroy(&runs[k]);
  }
}

void page_paper(Page* page, const Paper* paper) {
  fprintf(page->body, "<h2 id=\"%s\">", paper->name);
  put_html(page->body, paper->citation);
  fputs("</h2>\n", page->body);
  for (const Figure* f = figures; f->paper; f++) {
    if (strcmp(f->paper, paper->name) == 0) {
      put_figure(page, paper, f);
    }
  }
  fputs("<details><summary>All checks</summary>\n", page->body);
}

// ---- checks -------------------------------------------------------------------------------------
void page_case(Page* page, const Case* c, const char* method, const char* message) {
  fputs("<h3>", page->body);
  put_html(page->body, c->title);
  fputs("</h3>\n<p>", page->body);
  fprintf(page->body, "%s, %s %s %s. Reference: ",
          strncmp(c->model, "model:", 6) == 0 ? "model in docs/benchmark.md" : c->model, method,
          c->parameters, c->settings);
  put_html(page->body, c->origin);
  fputs("</p>\n", page->body);
  if (message) {
    fputs("<p class=\"bad\">", page->body);
    put_html(page->body, message);
    fputs("</p>\n", page->body);
  }
  fputs("<table><tr><th>what<th>value<th>reference<th>difference<th>allowed<th></tr>\n",
        page->body);
}

void page_check(Page* page, const Check* check, double value, double difference, double allowed,
                bool pass) {
  fputs(pass ? "<tr><td>" : "<tr class=\"bad\"><td>", page->body);
  put_html(page->body, check->what);
  fprintf(page->body, "<td>%.11g<td>%.11g<td>%.1e<td>%.1e<td>%s</tr>\n", value, check->reference,
          difference, allowed, pass ? "pass" : "FAIL");
}

void page_case_end(Page* page) {
  fputs("</table>\n", page->body);
}

void page_paper_end(Page* page, int checks, int failed, double seconds) {
  fprintf(page->body, "</details>\n<p class=\"sum\">%d checks, %d failed, in %.1f s.</p>\n", checks,
          failed, seconds);
}

// ---- the file -----------------------------------------------------------------------------------
static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>pawl: the papers, reproduced</title>\n<style>\n"
    "body{font:16px/1.45 Helvetica,Arial,sans-serif;max-width:62em;margin:2em auto;padding:0 1em;"
    "color:#222;background:#fff}\n"
    "figure{margin:1.5em 0;overflow-x:auto}figcaption{font-size:.9em;color:#444}\n"
    "code{font-size:.85em;color:#666}h2{border-top:1px solid #ccc;padding-top:1em}\n"
    "table{border-collapse:collapse;font-size:.8em;font-variant-numeric:tabular-nums}\n"
    "td,th{border-bottom:1px solid #e4e4e4;padding:.1em .7em;text-align:right}\n"
    "td:first-child,th:first-child{text-align:left}h3{font-size:1em;margin-bottom:0}\n"
    ".bad{background:#fbe3d6}.sum{color:#444}svg{max-width:100%;height:auto}\n"
    "@media print{details{display:none}figure{break-inside:avoid}}\n"
    "</style>\n<h1>The papers, reproduced</h1>\n";

static void put_page(FILE* to, const Page* page, int checks, int failed, double seconds) {
  fputs(head, to);
  fprintf(
      to,
      "<p>pawl %s: %d checks, %d failed; %d figures; %.0f s of computing in all. Figures are "
      "drawn anew from runs, in the order of the papers; docs/papers.md goes through the papers "
      "item by item.</p>\n<ul>\n",
      pawl_version(), checks, failed, page->figures, seconds);
  for (int p = 0; papers[p]; p++) {
    char mark[80];
    snprintf(mark, sizeof mark, "<h2 id=\"%s\">", papers[p]->name);
    if (strstr(page->text, mark)) {
      fprintf(to, "<li><a href=\"#%s\">", papers[p]->name);
      put_html(to, papers[p]->citation);
      fputs("</a>\n", to);
    }
  }
  fputs("</ul>\n", to);
  fwrite(page->text, 1, page->length, to);
  fputs("</html>\n", to);
}

int page_write(Page* page, const char* folder, int checks, int failed, double seconds) {
  char path[PATH_LENGTH], part[PATH_LENGTH + 8];
  if (fflush(page->body) != 0) {
    return complain_memory();
  }
  snprintf(path, sizeof path, "%.4000s/index.html", folder);
  snprintf(part, sizeof part, "%s.part", path);
  FILE* to = fopen(part, "w");
  if (!to) {
    return complain(EXIT_RUN, "%s: cannot be written: %s", path, strerror(errno));
  }
  put_page(to, page, checks, failed, seconds);
  bool good = ferror(to) == 0;
  good = fclose(to) == 0 && good;
  if (!good || rename(part, path) != 0) {
    unlink(part);
    return complain(EXIT_RUN, "%s: cannot be written: %s", path, strerror(errno));
  }
  return page->not_drawn ? EXIT_RUN : 0;
}
