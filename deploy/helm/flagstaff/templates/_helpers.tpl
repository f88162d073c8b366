{{- define "flagstaff.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "flagstaff.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "flagstaff.labels" -}}
{{ include "flagstaff.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* Not those of the server, whose service must not lead to edges. */}}
{{- define "flagstaff.edgeSelector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}-edge
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "flagstaff.edgeLabels" -}}
{{ include "flagstaff.edgeSelector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* BASE_URI_PATH as the server takes it: a slash at its start, none at its end. */}}
{{- define "flagstaff.basePath" -}}
{{- $path := trimAll "/" (toString (default "" .Values.settings.BASE_URI_PATH)) -}}
{{- if $path }}/{{ $path }}{{ end -}}
{{- end -}}
